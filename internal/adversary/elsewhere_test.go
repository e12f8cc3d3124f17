package adversary

// elsewhere are genomes of data that came from elsewhere, on which certificates were
// false that knew rows only by what is left of them.
var elsewhere = []finding{
	{"cholesky: effective dimension", "an outlier, first, of weight 1e-30: the origin of means", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Repeat: 1, Mean: -20, Noise: -1, Intercept: true, Block: 16, Parts: 1, Size: 2, Shrink: 2, Gamma: 1.3, Tol: -8, Passes: 60, Folds: 3, Level: 6, LevelRows: 1, LevelWeight: -30, Absolute: true}},
	{"cholesky: effective dimension", "the same, further", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Repeat: 1, Mean: -20, Noise: -1, Intercept: true, Block: 16, Parts: 1, Size: 2, Shrink: 2, Gamma: 1.3, Tol: -8, Passes: 60, Folds: 3, Level: 12, LevelRows: 1, LevelWeight: -50, Absolute: true}},
	{"cholesky: effective dimension", "weights 0.9^age after a level of 3e4", Genome{Seed: 1, Rows: 40, Cols: 1, Targets: 1, Repeat: 10, Mean: -20, Noise: -1, Order: 1, Intercept: true, Block: 16, Parts: 1, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, Level: 4.5, LevelRows: 40, Forget: 18.3}},
	{"cholesky at 0: weights", "one scatter of rank one, made regular by the rounding of means", Genome{Seed: 0x62f12e08710c8b94, Rows: 29, Cols: 5, Targets: 2, Top: -8, Span: 223.42509985237925, Basis: 2, Repeat: 206, Near: -15.311194887342092, Mean: -14.284165498056538, Single: true, Noise: -3.6397074653688506, Along: 0.23693662427598827, Order: 2, Weights: 1, Intercept: true, Sparse: true, Block: 2048, Parts: 1, Size: 6, Shrink: 10, Gamma: -1.7909885899962692, Method: 3, Tol: -7.9105801444544905, Passes: 12, Folds: 2, Forget: 58.64512118792069}},
	{"one-shot FD: weights", "an outlier of no weight before sparse rows", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Repeat: 10, Mean: -20, Noise: -1, Intercept: true, Sparse: true, Block: 16, Parts: 1, Size: 2, Shrink: 2, Gamma: 12, Tol: -8, Passes: 60, Folds: 3, Level: 7, LevelRows: 1, LevelWeight: -30, Absolute: true}},
	{"prediction", "the same, row by row", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Repeat: 10, Mean: -20, Noise: -1, Intercept: true, Sparse: true, Block: 1, Parts: 1, Size: 2, Shrink: 2, Gamma: 12, Tol: -8, Passes: 60, Folds: 3, Level: 7, LevelRows: 1, LevelWeight: -30, Absolute: true}},
	{"one-shot RFD: weights", "a level that was left, decayed, and merged into one row", Genome{Seed: 1, Rows: 10, Cols: 1, Targets: 1, Repeat: 100, Mean: -20, Noise: -1, Order: 1, Intercept: true, Block: 10, Parts: 2, Decays: 100, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, Level: 7, LevelY: 7, LevelRows: 100, Beta: 0.5, Deal: 2, Merging: 1}},
	{"path: weights", "the same in the features alone", Genome{Seed: 1, Rows: 10, Cols: 1, Targets: 1, Repeat: 100, Mean: -20, Noise: -1, Order: 1, Intercept: true, Block: 10, Parts: 2, Decays: 99, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, Level: 7, LevelRows: 100, Beta: 0.5, Deal: 2, Merging: 1}},
	{"prediction", "the same, nearer, without noise", Genome{Seed: 1, Rows: 10, Cols: 1, Targets: 1, Repeat: 100, Mean: -20, Noise: -16, Order: 1, Intercept: true, Block: 10, Parts: 2, Decays: 99, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, Level: 4, LevelY: 4, LevelRows: 100, Beta: 0.5, Deal: 2, Merging: 1}},
	{"one-shot FD: effective dimension", "second order: an outlier of 5·10¹⁷ and weight 1e-60", Genome{Seed: 1, Rows: 3, Cols: 1, Targets: 1, Top: 1.3, Repeat: 1, Mean: -20, Noise: -1, Intercept: true, Block: 16, Parts: 1, Size: 2, Shrink: 2, Gamma: 2.9, Tol: -8, Passes: 60, Folds: 3, Level: 16.7, LevelRows: 1, LevelWeight: -60, Absolute: true}},
	{"one-shot FD: objective", "the same in the targets", Genome{Seed: 1, Rows: 3, Cols: 1, Targets: 1, Top: 1.3, Repeat: 1, Mean: -20, Noise: -1, Intercept: true, Block: 16, Parts: 1, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, LevelY: 18, LevelRows: 1, LevelWeight: -60}},
	{"one-shot RFD: relative", "squares of the rows underflow, targets cancel", Genome{Seed: 1, Rows: 1, Cols: 1, Targets: 1, Top: -170, Repeat: 3, Mean: -20, Noise: -1, Block: 16, Parts: 1, Size: 2, Shrink: 2, Gamma: -72, Tol: -8, Passes: 60, Folds: 3, LevelY: 30, LevelRows: 2, LevelEvery: 2, Alternate: true, Absolute: true}},
	{"one-shot RFD: relative", "all decays to nothing", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Top: -20, Repeat: 1, Mean: -20, Scale: -20, Noise: -1, Block: 16, Parts: 1, Decays: 1, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, Beta: 0x1p-1000, Absolute: true}},
	{"one-shot RFD: relative", "the same with an intercept", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Top: -20, Repeat: 1, Mean: -20, Scale: -20, Noise: -1, Intercept: true, Block: 16, Parts: 1, Decays: 1, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, Beta: 0x1p-1000, Absolute: true}},
	{"cg: relative", "weights underflow", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Top: -20, Repeat: 1, Mean: -20, Scale: -20, Noise: -1, Block: 16, Parts: 1, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, WeightTop: -310, Absolute: true}},
	{"one-shot FD: objective", "squares of the targets underflow", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Repeat: 1, Mean: -20, Scale: -165, Noise: -1, Block: 16, Parts: 1, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, Absolute: true}},
	{"prediction", "squares of the rows underflow", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Top: -165, Repeat: 1, Mean: -20, Noise: -1, Block: 16, Parts: 1, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, Absolute: true}},
	{"the summary", "1/Σw overflows: a refusal that left its trace", Genome{Seed: 1, Rows: 48, Cols: 1, Targets: 1, Repeat: 1, Mean: -20, Noise: -1, Intercept: true, Block: 16, Parts: 1, Size: 2, Shrink: 2, Tol: -8, Passes: 60, Folds: 3, WeightTop: -310}},
	{"qr: weights", "weights below the normal numbers, QR and Cholesky: squares of what centring moved underflow", Genome{Rows: 2, Cols: 1, Targets: 1, Top: 20, Repeat: 1, Intercept: true, Block: 1, Parts: 1, Size: 2, Shrink: 1, Tol: -8, Passes: 1, Folds: 3, WeightTop: -320}},
	{"qr: effective dimension", "the same in the features", Genome{Rows: 2, Cols: 1, Targets: 1, Repeat: 1, Intercept: true, Block: 1, Parts: 1, Size: 3, Shrink: 1, Tol: -8, Passes: 1, Folds: 3, WeightTop: -320}},
	{"qr: weights", "the same where the targets are small", Genome{Rows: 2, Cols: 1, Targets: 1, Repeat: 2, Scale: -160, Order: 1, Intercept: true, Block: 2, Parts: 1, Size: 4, Shrink: 4, Tol: -8, Passes: 1, Folds: 3, LevelY: 10, LevelRows: 1, Decays: 2, Beta: 0x1p-20}},
	{"cross-validation: two passes", "w·r² underflows", Genome{Seed: 0x5, Rows: 2, Cols: 1, Targets: 3, Repeat: 1, Zeros: 1, Intercept: true, Block: 1, Parts: 1, Size: 2, Shrink: 1, Tol: -8, Passes: 1, Folds: 2, WeightTop: -320}},
	{"proved size", "targets cancel: the rounding of c is no part of what is proved of a size", Genome{Rows: 1, Cols: 1, Targets: 1, Repeat: 3, Block: 2, Parts: 1, Size: 5, Shrink: 1, Tol: -8, Passes: 1, Folds: 3, LevelY: 30, LevelRows: 2, Alternate: true}},
	{"Nyström: Over", "squares of the rows underflow in randsketch", Genome{Rows: 1, Cols: 1, Targets: 1, Top: -170, Repeat: 1, Block: 1, Parts: 1, Size: 2, Shrink: 2, Tol: -8, Passes: 1, Folds: 3, Absolute: true}},
}

// wideOnes are those of many features.
var wideOnes = []struct {
	certificate, what string
	genome            Large
}{
	{"cholesky: effective dimension", "an outlier far away, of no weight", Large{Seed: 0xe28e3067c2fcffe7, Rows: 234, Cols: 149, Targets: 2, Span: 2.0534446926087595, Shape: 1, Repeat: 1, Mean: -20, Noise: -0.6886714129110018, Along: 0.26298735147559216, Intercept: true, Block: 2048, Parts: 1, Size: 95, Shrink: 191, Gamma: -4.276208446941263, Method: 1, PlainFD: true, Tol: -10.671173812112592, Passes: 15, Folds: 2, Level: 13.954347343899398, LevelY: 3.1889428022392527, LevelRows: 1, LevelWeight: -43.41401440643785, Beta: 0.5}},
	{"prediction by cg", "a level that was left, decayed, and merged into single rows", Large{Seed: 0xaffd97dd8c010644, Rows: 750, Cols: 182, Targets: 3, Span: 1.8350935110504598, Shape: 2, Repeat: 1, Mean: -20, Noise: -2.104161460469567, Along: 0.23045300404807667, Intercept: true, Block: 1000, Parts: 4, Decays: 30, Size: 11, Shrink: 17, Gamma: 2.1137273364827998, Tol: -5.243261714411147, Passes: 13, Folds: 2, Level: 2.8205068679822567, LevelY: 6.085667757250444, LevelRows: 26, Beta: 0.25, Deal: 2, Merging: 1}},
}

// often are those that need many rows.
var often = []finding{
	{"one-shot FD: weights", "an outlier first in sparse rows, a million of them", Genome{Seed: 1, Rows: 2, Cols: 1, Targets: 1, Repeat: 1000, Mean: -20, Zeros: 0.5, Noise: -1, Intercept: true, Sparse: true, Block: 2048, Parts: 1, Size: 2, Shrink: 2, Gamma: 18, Tol: -8, Passes: 2, Folds: 3, Level: 6, LevelRows: 1, Cycles: 500, Absolute: true}},
}
