// Package choose chooses γ and the penalties of groups of columns. The score is generalised cross-validation, the
// leave-one-out error, or the error of K-fold cross-validation. Brackets of the scores can prove that a choice is the
// best.
package choose
