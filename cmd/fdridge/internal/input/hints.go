package input

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/fdridge/fdridge/dataset"
)

// NameColumns adds a hint to an error about the rows of a fit. The hint names the flags that avoid the error.
func (o *Flags) NameColumns(err error) error {
	e, ok := errors.AsType[*dataset.InputError](err)
	switch {
	case !ok:
	case e.IsLabel:
		return fmt.Errorf("%w (--classes, if the target is a column of labels)", err)
	case e.Missing && e.NonFinite:
		return fmt.Errorf("%w (if NaN is a missing value, see --missing)", err)
	case e.Missing && e.Omittable:
		return fmt.Errorf("%w (--columns; or --missing mean or drop)", err)
	case e.Missing:
		return fmt.Errorf("%w (--missing-target drop leaves out such rows)", err)
	case e.Omittable && len(e.Texts)+len(e.Others) > 0:
		return fmt.Errorf("%w (%s)", err, o.withoutTexts(e))
	case e.Omittable:
		return fmt.Errorf("%w (--columns; or see --missing and --onehot)", err)
	}
	return err
}

// withoutTexts suggests flags for the columns with text that caused the error e. The flags either encode or omit
// these columns.
func (o *Flags) withoutTexts(e *dataset.InputError) string {
	const most = 40
	all := slices.Concat(e.Texts, e.Others)
	if len(all) > most ||
		slices.ContainsFunc(all, func(name string) bool {
			return !plainName().MatchString(name)
		}) {
		return "--prepare auto, or --onehot text; or see --columns"
	}
	oneHot := ""
	if len(e.Texts) > 0 {
		oneHot = "--prepare auto; or --onehot " + strings.Join(append(slices.Clone(o.oneHot.Items), e.Texts...), ",")
		if len(e.Texts) > 1 {
			oneHot = "--prepare auto; or --onehot text"
		}
	}
	omit := func(names []string) string {
		listed := o.columns.Items
		if len(listed) > 0 && !strings.HasPrefix(listed[0], "-") {
			return "--columns without " + strings.Join(names, ",")
		}
		return "--columns=" + strings.Join(append(slices.Clone(o.columns.Items), "-"+strings.Join(names, ",-")), ",")
	}
	switch {
	case len(e.Texts) == 0:
		return omit(all)
	case len(e.Others) == 0:
		return oneHot + "; or " + omit(all)
	}
	return oneHot + " and " + omit(e.Others) + "; or " + omit(all)
}

// plainName matches the column names that need no quotes in a comma-separated list.
var plainName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL\pN_][\pL\pN_.:/%+-]*$`)
})
