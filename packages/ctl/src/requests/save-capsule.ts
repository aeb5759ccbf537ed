import { existsSync, writeFileSync } from 'node:fs'
import type { Capsule } from '@portico/gateway/capsules'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printableBlock } from '../printable.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { findOne } from './show-one.ts'

interface CapsuleRequest {
  readonly id: string
  readonly token: string | null
  /** The path of the capsule file to write, or `-` for standard output. */
  readonly to: string
}

/** Writes the capsule of a request. All gateways are searched, because only one of them has the record. */
export async function saveCapsule(
  admins: readonly AdminAddress[],
  { id, token, to }: CapsuleRequest,
  io: Io,
): Promise<number> {
  if (to !== '-' && existsSync(to)) return failWith(`${to} exists: name another file with --to`, io)
  const found = await findOne<Capsule>(admins, `/api/requests/${id}/capsule`, token)
  if (typeof found === 'string') return failWith(found, io)
  const { decision, replaced, problem } = found.value
  const text = `${JSON.stringify(found.value, null, 2)}\n`
  if (to === '-') io.stdout.write(text)
  else writeFileSync(to, text, { flag: 'wx' })
  const report = to === '-' ? io.stderr : io.stdout
  const lines = [
    ...(to === '-' ? [] : [`${to}: ${decision.headline}`]),
    ...replaced.map((what) => `  replaced: ${what}`),
  ]
  report.write(printableBlock(lines.map((line) => `${line}\n`).join('')))
  return problem === null ? exitCode.fine : failWith(`the request cannot be replayed: ${problem}`, io)
}
