module github.com/fdridge/fdridge

go 1.26.0
