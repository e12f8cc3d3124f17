package paper

// A realData is what must be known of a public data set to use it.
type realData struct {
	name     string
	format   string // as in dataset/file
	target   []string
	features int
	home     string       // page of its public home
	folder   string       // in the repository
	editions [][]textFile // each is the files that make up the data; the first that is found is taken
	download *download
}

// A textFile is a file of a data set, plain or gzip.
type textFile struct {
	names []string          // any of these
	known map[string]string // what it is by the sha256 of its text; nil: any will do
}

// realSets are the three real data sets of the paper.
var realSets = map[string]*realData{
	"w8a": {
		name: "w8a", format: "svmlight", features: 300,
		home:   "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html#w8a",
		folder: "testdata",
		editions: [][]textFile{{{[]string{"w8a.svm.gz", "w8a.svm", "w8a"}, map[string]string{
			"6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2": "complete",
		}}}},
		download: &download{
			url:  "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/w8a",
			file: "w8a", bytes: 3478238,
			sum: "6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2",
		},
	},
	"covtype": {
		name: "covtype", format: "csv", target: []string{"last"}, features: 54,
		home:   "https://archive.ics.uci.edu/dataset/31/covertype",
		folder: "paper/data",
		editions: [][]textFile{{{[]string{"covtype.data.gz", "covtype.data"}, map[string]string{
			"0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945": "complete",
			"6603b4648ee485554500a20eccba49d5db6c99c8c79f8251ba2515e33718add8": "first 100000 of 581012 rows",
		}}}},
		download: &download{
			url:  "https://archive.ics.uci.edu/ml/machine-learning-databases/covtype/covtype.data.gz",
			file: "covtype.data.gz", bytes: 75169317,
			sum: "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
		},
	},
	"YearPredictionMSD": {
		name: "YearPredictionMSD", format: "csv", target: []string{"first"}, features: 90,
		home:   "https://archive.ics.uci.edu/dataset/203/yearpredictionmsd",
		folder: "paper/data",
		editions: [][]textFile{
			{{[]string{"YearPredictionMSD.txt", "YearPredictionMSD.txt.gz"}, nil}},
			{
				{[]string{"YearPredictionMSD.head1176.txt.gz"}, map[string]string{
					"fba15e46fff5a1d60cf590d5156ae993410e98b008abefd4f3a27f3d8d1af6db": "first 1176 of 515345 rows",
				}},
				{[]string{"YearPredictionMSD.sample7000.txt.gz"}, map[string]string{
					"8a4ce8cb596a43893e201b0b4727fed26d2547da832b872804f8dcb84813a15b": "7000 random rows of the first 463715",
				}},
			},
		},
	},
}
