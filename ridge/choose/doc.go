// Package choose chooses the penalty γ of ridge regression, and separate penalties for groups of columns. It
// compares candidates by a score, for example generalised cross-validation, the leave-one-out error, or the error
// of K-fold cross-validation. A bracket of each score is proved. So it can be proved that no other candidate is
// better.
package choose
