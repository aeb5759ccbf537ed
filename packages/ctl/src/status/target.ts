import type { TargetKind } from './kinds.ts'
import { nameOfKind } from './kinds.ts'

export interface StatusTarget {
  kind: TargetKind
  name: string
}

/** Parses `httproute/orders`, with any name that kubectl accepts for the kind. Returns a text when it is invalid. */
export function parseTarget(text: string): StatusTarget | string {
  const slash = text.indexOf('/')
  const [kind, name] = [nameOfKind(text.slice(0, slash)), text.slice(slash + 1)]
  if (slash < 0 || kind === null || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) {
    return `found ${JSON.stringify(text)}, expected <kind>/<name> such as httproute/orders, gateway/web, gwpolicy/cors or gwbackend/model`
  }
  return { kind, name }
}
