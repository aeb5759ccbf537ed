import type { Spending } from './spending.ts'

/** The budgets of an API key together with those of the route. A call needs room in all of them. */
export function joinSpending(ofKey: Spending | null, ofRoute: Spending): Spending {
  if (ofKey === null) return ofRoute
  return {
    expect(body, format) {
      ofKey.expect(body, format)
      ofRoute.expect(body, format)
    },
    expectUsage(usage) {
      ofKey.expectUsage(usage)
      ofRoute.expectUsage(usage)
    },
    // The reservation of the key is given back at the end of the request.
    reserve(call) {
      const refusal = ofKey.reserve(call)
      if (!(refusal instanceof Promise)) return refusal ?? ofRoute.reserve(call)
      return refusal.then((known) => known ?? ofRoute.reserve(call))
    },
  }
}
