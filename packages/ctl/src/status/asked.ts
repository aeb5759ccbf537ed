import type { AskedKind } from './kinds.ts'
import { nameOfKind } from './kinds.ts'

export interface Asked {
  kind: AskedKind
  name: string
}

/** `httproute/orders`, by any name that kubectl knows the kind by. A text says what is wrong with it. */
export function readAsked(text: string): Asked | string {
  const slash = text.indexOf('/')
  const [kind, name] = [nameOfKind(text.slice(0, slash)), text.slice(slash + 1)]
  if (slash < 0 || kind === null || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name)) {
    return `found ${JSON.stringify(text)}, expected <kind>/<name> such as httproute/orders, gateway/web, gwpolicy/cors or gwbackend/model`
  }
  return { kind, name }
}
