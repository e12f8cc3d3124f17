// A module of its own, so that these files stay out of what importers of the library download.
module github.com/fdridge/fdridge/paper/data

go 1.26.0
