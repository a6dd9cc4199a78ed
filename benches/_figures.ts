/**
 * Statistics of several runs: the median, and the ratio of our figures to those of another program,
 * pair by pair.
 */

/** Returns the median. For an even number of figures it is the mean of the middle two. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2;
}

/** A ratio with the confidence interval of its median. */
export interface Ratio {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Returns the ratio of figures that were measured in pairs. The interval is that of the sign test:
 * from the k-th smallest to the k-th largest ratio, with the largest k whose confidence is at least
 * 95 %. With fewer than six pairs it is the whole range (Conover, Practical Nonparametric
 * Statistics, 3.2).
 *
 * @param ours Our figures, in the order of the pairs.
 * @param theirs The other program's figures, in the same order.
 */
export function pairedRatio(ours: readonly number[], theirs: readonly number[]): Ratio {
  const ratios = ours.map((figure, i) => figure / theirs[i]!).toSorted((a, b) => a - b);
  let tail = 0;
  let k = 0;
  // Probability that k or fewer of n ratios are on one side of the true median.
  for (let choose = 1; k < ratios.length; k++) {
    tail += choose / 2 ** ratios.length;
    if (tail > 0.025) break;
    choose = choose * (ratios.length - k) / (k + 1);
  }
  const at = Math.max(0, k - 1);
  return { median: median(ratios), low: ratios[at]!, high: ratios[ratios.length - 1 - at]! };
}
