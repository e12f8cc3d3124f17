package main

// The tables of this file list the command-line flags. For each flag they state its place in --help, the field of
// fdridge.Options that it sets, and whether it may change when a run resumes.

// flagGroups lists the flags of all commands by group, in the order of --help. An entry flag=VALUE applies to every
// command that has the flag. An entry command:flag=VALUE applies to this command only.
var flagGroups = []struct{ title, flags string }{
	{
		"Data",
		"model=FILE data=FILES paper:data=DIR sketch=FILE target=NAME columns=LIST weights=NAME rows=A:B " +
			"paper:rows=N every=K n=N holdout=F coverage=P format=NAME header=WORD delimiter=C decimal=C " +
			"missing-marks=LIST skip-rows=N comment=C escape=C first-index=N",
	},
	{
		"Preparation",
		"prepare=FILE prepare-out=FILE standardize=WHICH missing=LIST missing-indicator missing-target=NAME " +
			"onehot=LIST min-share=F dates=LIST unknown=NAME features=SPEC",
	},
	{
		"Model",
		"gamma=G method=NAME intercept size=M sizes=LIST penalty=FILE bands=LIST unpenalized=LIST classes class-weight=NAME",
	},
	{"Choosing gamma", "per-target select=NAME cv=K gamma-tol=F"},
	{"Accuracy", "tol=E max-passes=N error=E strict standard-errors interval=WHICH"},
	{"Experiments", "figures=LIST quick dim=D ratio=LIST noise=S trials=N iterations=N seed=N"},
	{"Live sketch", "sketch:every=TIME window=SPAN half-life=SPAN sketch:gamma=G replay"},
	{
		"Output",
		"kind=NAME top=N worst=K plot=FILE key=COLUMN out=FILE man:out=DIR paper:out=DIR report=FILE coef=FILE " +
			"save-sketch=FILE out-format=NAME digits json",
	},
	{
		"Running",
		"threads=N memory=MIB checkpoint=FILE checkpoint-every=TIME cache=DIR log-format=NAME mpi help version",
	},
	{"Advanced", "transposed n-features=D predict=FILE part=I/N lanes=N cache-keep cache-gib=GIB"},
}

// optionFlags maps the name of a field of fdridge.Options to the flag that sets the field.
var optionFlags = map[string]string{
	"Gammas":      "--gamma",
	"Candidates":  "--gamma",
	"Select":      "--select",
	"Folds":       "--cv",
	"GammaTol":    "--gamma-tol",
	"Penalty":     "--penalty",
	"Unpenalized": "--unpenalized",
	"Bands":       "--bands",
	"PerTarget":   "--per-target",
	"Block":       "--predict",
	"Classes":     "--classes",
	"Method":      "--method",
	"NoIntercept": "--intercept",
	"Tol":         "--tol",
	"MaxPasses":   "--max-passes",
	"Size":        "--size",
	"Lanes":       "--lanes",
	"KeepSummary": "--save-sketch",
	"Journal":     "--checkpoint",
	"Reducer":     "--mpi",
}

// freeOptions are the fields of fdridge.Options whose flags may change when a run resumes from a checkpoint. These
// fields set limits or outputs. A flag may also change if it sets no field of fdridge.Options or table.Spec.
var freeOptions = []string{"Tol", "MaxPasses", "KeepSummary", "Journal"}
