import { gatewayNameOf } from '../gateway-name.ts'
import { type AdminAddress, parseAdminAddress } from './admin-address.ts'

export type Source =
  | { readonly kind: 'local'; readonly admin: AdminAddress }
  | { readonly kind: 'gateway'; readonly name: string }

export interface SourceArguments {
  readonly local: boolean
  readonly admin: string
  readonly operands: readonly string[]
}

export type PlanResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string }

/** Chooses the source: a standalone gateway, or a Gateway of a cluster. */
export function planSource({ local, operands, admin: address }: SourceArguments): PlanResult<Source> {
  const [operand, extra] = operands
  const name = operand === undefined ? null : gatewayNameOf(operand)
  if (operand !== undefined && (name === null || extra !== undefined)) {
    const found = JSON.stringify(name === null ? operand : extra)
    return failure(
      `found ${found}, expected gateway/<name> and options; the URL of a trace and curl arguments go behind --`,
    )
  }
  if (local && name !== null) return failure('--local is for a standalone gateway: leave it out, or gateway/<name>')
  if (name !== null) return { ok: true, value: { kind: 'gateway', name } }
  if (!local) return failure('name a Gateway of the cluster, gateway/<name>, or give --local for a standalone gateway')
  const admin = parseAdminAddress(address)
  if (admin === null) {
    return failure(`found admin address ${JSON.stringify(address)}, expected <host>:<port> or unix:/<path>`)
  }
  return { ok: true, value: { kind: 'local', admin } }
}

/** The message omits the value, which is a secret. */
export function tokenProblem(token: string | null): string | null {
  return token === null || /^[\x21-\x7e]+$/.test(token)
    ? null
    : 'the admin token may hold only visible ASCII characters'
}

export function failure(problem: string): { ok: false; problem: string } {
  return { ok: false, problem }
}
