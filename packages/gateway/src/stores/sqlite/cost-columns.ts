/** The columns of costs in an hourly sum: whole dollars and the rest, because a sum of billionths would overflow. */
export const COST_COLUMNS = ['dollars', 'nanos', 'saved_dollars', 'saved_nanos'] as const
