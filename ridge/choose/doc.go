// Package choose chooses γ and the penalties of groups of columns: by generalised cross-validation, by leave-one-out errors, or by
// cross-validation with folds. The score of each candidate is known as a bracket, so that a choice tells whether it is certain.
package choose
