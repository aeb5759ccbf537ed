import type { Ir } from '@portico/gateway/ir'
import { redact } from '@portico/gateway/redact'
import { stringify } from 'yaml'
import { ClusterProblem, openGateway } from '../cluster/index.ts'
import type { ClusterArguments } from '../cluster/options.ts'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable, printableBlock } from '../printable.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { readConfigDump } from './config-dump.ts'
import { effectivePolicies, type LocationOf } from './effective.ts'

interface EffectiveRequest extends ClusterArguments {
  readonly from:
    | { readonly kind: 'local'; readonly admin: AdminAddress }
    | { readonly kind: 'gateway'; readonly name: string }
    | { readonly kind: 'file'; readonly file: string }
  readonly adminToken: string | null
  readonly route: string | null
  readonly isJson: boolean
}

/** Prints the effective policies; returns the exit code. */
export async function showEffective(request: EffectiveRequest, io: Io): Promise<number> {
  // A reader such as `head` may close the pipe.
  io.stdout.on('error', () => {})
  if (request.from.kind === 'local') return show(request.from.admin, request, io)
  if (request.from.kind === 'file') return showFile(request.from.file, request, io)
  try {
    const open = await openGateway({ ...request, gateway: request.from.name, onePod: true }, io.env)
    try {
      return await show(open.admins[0], request, io)
    } finally {
      await open.close()
    }
  } catch (error) {
    if (!(error instanceof ClusterProblem)) throw error
    return failWith(error.message, io)
  }
}

async function show(admin: AdminAddress, request: EffectiveRequest, io: Io): Promise<number> {
  const dump = await readConfigDump(admin, request.adminToken)
  if (typeof dump === 'string') return failWith(dump, io)
  const { version, generation } = dump
  return print({ label: admin.label, head: { gateway: admin.label, version, generation }, ir: dump }, request, io)
}

/** Prints the policies of a file, checked like in the gateway; locations are known. */
async function showFile(file: string, request: EffectiveRequest, io: Io): Promise<number> {
  const { loadFile } = await import('./load-file.ts')
  const loaded = loadFile(file, io.env)
  if ('problems' in loaded) {
    for (const problem of loaded.problems) io.stderr.write(`${printable(problem)}\n`)
    return exitCode.failed
  }
  return print({ label: file, head: { file }, ...loaded }, request, io)
}

interface PrintInput {
  label: string
  head: object
  ir: Ir
  placeOf?: LocationOf
}

function print({ label, head, ir, placeOf }: PrintInput, { route, isJson }: EffectiveRequest, io: Io): number {
  const { frontend, listeners } = effectivePolicies(ir, route, placeOf)
  if (route !== null && listeners.length === 0) {
    const names = [...new Set(ir.routes.map(({ name }) => name))].toSorted().slice(0, 20).join(', ')
    return failWith(`${label} has no route ${route}${names === '' ? '' : `, but ${names}`}`, io)
  }
  const all = { ...head, frontend, listeners }
  // A dump is redacted already, a file may contain secrets.
  const shown = placeOf === undefined ? all : (redact(all) as object)
  const text = isJson
    ? `${JSON.stringify(shown, null, 2)}\n`
    : stringify(shown, { lineWidth: 120, aliasDuplicateObjects: false })
  io.stdout.write(io.stdout.isTTY ? printableBlock(text) : text)
  return exitCode.fine
}
