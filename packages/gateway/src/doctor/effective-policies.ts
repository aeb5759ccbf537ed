import { indexPolicies, setsOfListeners } from '../ir/merge.ts'
import { PoliciesByTarget } from '../ir/policies-by-target.ts'
import type { AttachedBackend, Backend, Ir } from '../ir/resources.ts'

/**
 * Returns the function that finds the effective policies of a backend, or of a section of the backend, on the first
 * route that calls the backend.
 */
export function effectivePolicies(ir: Ir): (backend: Backend, section?: string) => AttachedBackend {
  // The set of joined policies is empty, because only traffic policies are joined.
  const index = indexPolicies(PoliciesByTarget.of(ir.policies), new Set(), setsOfListeners(ir.listeners))
  return ({ key }, section) => {
    const route = ir.routes.find(({ backends }) => backends.some(({ backend }) => backend === key))
    const entry = route?.backends.find(({ backend }) => backend === key)
    return index.backend({
      ...{ listener: route?.listener ?? '', route: route?.key ?? '', backend: key, entry: entry?.key ?? key },
      parent: route === undefined ? '' : `${route.listener}/${route.name}`,
      ...(section !== undefined && { section }),
    })
  }
}
