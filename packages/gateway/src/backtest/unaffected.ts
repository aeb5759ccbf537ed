import { affectedBy } from '../ir/affected.ts'
import { applyChange, changeBetween } from '../ir/change.ts'
import { PoliciesByTarget } from '../ir/policies-by-target.ts'
import type { Ir } from '../ir/resources.ts'
import { SharingMap } from '../collections/sharing-map.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'

/**
 * Returns the function that tells whether two configs decide a recorded request alike, because nothing on the path of
 * the request differs.
 */
export function unaffectedBy(before: Ir, after: Ir): (record: RequestRecord) => boolean {
  const change = changeBetween(before, after)
  if (change === null) return () => false
  const changed = applyChange(before, change)
  const { ir, came, gone } = changed
  const touched = [came, gone]
  const isOutside = touched.some(
    ({ binds, policies }) =>
      binds.length > 0 ||
      // A policy with several targets counts their requests in one rate limit, so its change affects other routes.
      policies.some(({ target, origin }) => target.kind === 'bind' || origin !== undefined),
  )
  if (isOutside) return () => false
  const affected = affectedBy(changed, {
    byTarget: PoliciesByTarget.of(ir.policies),
    backendsByKey: SharingMap.of(ir.backends.map((backend) => [backend.key, backend] as const)),
  })
  const listeners = new Set(
    touched.flatMap((part) => [
      ...part.listeners.map(({ key }) => key),
      ...part.routes.map(({ listener }) => listener),
    ]),
  )
  const touchedBinds = new Set(touched.flatMap((part) => part.listeners.map(({ bind }) => bind)))
  const isPolicyTouched = touched.some(({ policies }) => policies.length > 0)
  const routeByKey = new Map(ir.routes.map((route) => [route.key, route]))
  return ({ keys: { listener, route } }) => {
    if (listener === null || listeners.has(listener)) return false
    // A new listener on the port may serve the host of the record.
    if ([...touchedBinds].some((bind) => listener.startsWith(`${bind}/`))) return false
    if (route === null) return !isPolicyTouched
    for (let at = routeByKey.get(route); at !== undefined; at = routeByKey.get(at.within ?? '')) {
      if (affected.route(at)) return false
      if (at.within === undefined) return true
    }
    return false
  }
}
