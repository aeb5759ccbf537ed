import { queryOptions, useQuery } from '@tanstack/react-query'

/** Functions over the table of prices. */
export type PriceTable = Pick<typeof import('./price-table.ts'), 'priceCall' | 'priceRow'>

const pricesQuery = queryOptions({
  queryKey: ['price-table'],
  queryFn: async (): Promise<PriceTable> => {
    const { priceCall, priceRow } = await import('./price-table.ts')
    return { priceCall, priceRow }
  },
  staleTime: Infinity,
  structuralSharing: false,
})

export interface Prices {
  /** Null while it is not there. */
  readonly table: PriceTable | null
  readonly error: Error | null
}

/** The table, loaded once there is something to be priced. */
export function usePrices(isNeeded: boolean): Prices {
  const { data, error } = useQuery({ ...pricesQuery, enabled: isNeeded })
  return { table: data ?? null, error }
}
