import { stringify } from 'yaml'
import { ClusterProblem, openGateway } from '../cluster/index.ts'
import type { ClusterArguments } from '../cluster/options.ts'
import { exitCode, type Io } from '../io.ts'
import { printable, printableBlock } from '../printable.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { readConfigDump } from './config-dump.ts'
import { effectivePolicies } from './effective.ts'

export interface EffectiveRequest extends ClusterArguments {
  readonly from:
    | { readonly kind: 'local'; readonly admin: AdminAddress }
    | { readonly kind: 'gateway'; readonly name: string }
  readonly adminToken: string | null
  readonly route: string | null
  readonly isJson: boolean
}

/** What holds where, on standard output. The result is the exit code. */
export async function showEffective(request: EffectiveRequest, io: Io): Promise<number> {
  // A reader may have seen enough, as `head` does.
  io.stdout.on('error', () => {})
  if (request.from.kind === 'local') return show(request.from.admin, request, io)
  try {
    const open = await openGateway({ ...request, gateway: request.from.name, onePod: true }, io.env)
    try {
      return await show(open.admins[0], request, io)
    } finally {
      await open.close()
    }
  } catch (error) {
    if (!(error instanceof ClusterProblem)) throw error
    return refuse(error.message, io)
  }
}

async function show(admin: AdminAddress, { adminToken, route, isJson }: EffectiveRequest, io: Io): Promise<number> {
  const dump = await readConfigDump(admin, adminToken)
  if (typeof dump === 'string') return refuse(dump, io)
  const { frontend, listeners } = effectivePolicies(dump, route)
  if (route !== null && listeners.length === 0) {
    const names = [...new Set(dump.routes.map(({ name }) => name))].toSorted().slice(0, 20).join(', ')
    return refuse(`${admin.label} has no route ${route}${names === '' ? '' : `, but ${names}`}`, io)
  }
  const shown = { gateway: admin.label, version: dump.version, generation: dump.generation, frontend, listeners }
  const text = isJson
    ? `${JSON.stringify(shown, null, 2)}\n`
    : stringify(shown, { lineWidth: 120, aliasDuplicateObjects: false })
  io.stdout.write(io.stdout.isTTY ? printableBlock(text) : text)
  return exitCode.fine
}

function refuse(problem: string, io: Io): number {
  io.stderr.write(`porticoctl: ${printable(problem)}\n`)
  return exitCode.failed
}
