# Writes the files of SQLite and of Gnumeric, a spreadsheet, in English and German; see write.py.
# German needs: apt-get install locales && localedef -i de_DE -f UTF-8 de_DE.UTF-8
set -eu
sqlite3 -cmd ".import --csv table.csv t" :memory: ".headers on" ".mode csv" ".output sqlite.csv" "select a, n, s, nullif(m, '') as m, y from t" \
	".mode tabs" ".output sqlite.tsv" "select a, n, s, nullif(m, '') as m, y from t" ".mode list" ".output sqlite.txt" "select a, n, s, nullif(m, '') as m, y from t"
ssconvert -T Gnumeric_Excel:xlsx2 table.csv book.xlsx
LC_ALL=C.UTF-8 ssconvert book.xlsx gnumeric-english.csv
LC_ALL=de_DE.UTF-8 ssconvert -T Gnumeric_stf:stf_assistant -O 'separator=; locale=de_DE.UTF-8 format=automatic eol=windows' book.xlsx gnumeric-german.txt
mv gnumeric-german.txt gnumeric-german.csv
rm book.xlsx
