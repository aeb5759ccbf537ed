import { effect } from '../../chain/effects.ts'
import type { Handler } from '../../chain/routes.ts'
import type { Requirement } from './jwt-requirements.ts'

/**
 * Returns handlers that send claims to the upstream in headers. A header whose claim is missing is removed, so that
 * clients cannot set it.
 */
export function claimHeaders({ providers }: Requirement): Handler[] {
  const headers = new Map<string, string>()
  for (const { payloadHeader, claimHeaders: claims } of providers) {
    if (payloadHeader !== null) {
      headers.set(payloadHeader, 'base64.encode(toJson(jwt)).replace("+", "-").replace("/", "_").replace("=", "")')
    }
    for (const { header, path } of claims) {
      headers.set(header, `jwt${path.map((name) => `[${JSON.stringify(name)}]`).join('')}`)
    }
  }
  const isForwarded = providers.some((each) => each.isForwarded)
  return [
    ...[...headers].map(([name, value]) =>
      effect((state) => ({ ...state, request: [...state.request, { name, value, when: null }] })),
    ),
    ...(isForwarded ? [forwarding] : []),
  ]
}

/** A handler that sends the client's credential to the upstream. */
export const forwarding: Handler = effect((state) => ({
  ...state,
  policies: { ...state.policies, backend: { auth: { passthrough: {} } } },
}))
