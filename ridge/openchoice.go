package ridge

// patience is how many times as long as for any other choice is taken for one that is little known.
const patience = 5

// directly says that γ is to be chosen of direct solutions instead, where a choice is little known, they
// would leave less open, and take no more memory, and only so much longer, than ChooseMethod takes
// them for.
func (c *chooser) directly(choice *GammaChoice) bool {
	o := c.opts
	if c.settled(choice) || !choice.LittleKnown() || c.src == nil {
		return false
	}
	direct := *o
	direct.Method = exactName
	n, d, t := c.sum.Rows(), c.sum.cfg.Dim, c.sum.cfg.Targets
	if o.Once || direct.needsSketch(n, d) != "" || c.sum.lostNothing() {
		return false
	}
	order, other, bytes := d, n, float64(exactBytes(d, t, true))
	if o.Select == ByLOO {
		bytes += float64(keptBytes(o.Backend, d, t))
	}
	if byRows(exactName, n, d, nil) {
		order, other = int(n), int64(d)
		bytes = dualBytes(n, d, t, Dual, dualPlan{gammas: gridGCV, leverage: o.Select == ByLOO})
	}
	return exactFits(order) && bytes <= float64(o.maxBytes()) &&
		readFlops+exactFlops(other, order, gridGCV) <= patience*c.mostFlops()
}
