import type { Explanation, RequestRecord } from '@portico/gateway/admin-api'
import { exitCode, type Io } from '../io.ts'
import { printableBlock } from '../printable.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import { askAdmin } from './ask-admin.ts'
import { printExplanation } from './print-explanation.ts'
import { failWith } from '../fail.ts'

interface OneRequest {
  readonly id: string
  readonly token: string | null
  readonly isJson: boolean
}

/** Prints the explanation of a request; one of several Pods has the record. */
export async function showExplanation(admins: readonly AdminAddress[], request: OneRequest, io: Io): Promise<number> {
  const found = await findOne<Explanation>(admins, `/api/requests/${request.id}/explain`, request.token)
  if (typeof found === 'string') return failWith(found, io)
  const text = request.isJson ? `${JSON.stringify(found.value, null, 2)}\n` : printExplanation(found.value)
  io.stdout.write(io.stdout.isTTY ? printableBlock(text) : text)
  return exitCode.fine
}

/** Prints the full record of a request. */
export async function showRecord(admins: readonly AdminAddress[], request: OneRequest, io: Io): Promise<number> {
  const found = await findOne<RequestRecord>(admins, `/api/requests/${request.id}`, request.token)
  if (typeof found === 'string') return failWith(found, io)
  const text = `${JSON.stringify(found.value, null, 2)}\n`
  io.stdout.write(io.stdout.isTTY ? printableBlock(text) : text)
  return exitCode.fine
}

/** Returns the reason as a text when no gateway returned the record. */
export async function findOne<Answer>(
  admins: readonly AdminAddress[],
  path: string,
  token: string | null,
): Promise<{ value: Answer } | string> {
  const asked = await Promise.all(admins.map((admin) => askAdmin<Answer>({ admin, token, path })))
  const answer = asked.find((each) => each.kind === 'answer')
  if (answer !== undefined) return { value: answer.value }
  const problem = asked.find((each) => each.kind === 'problem')
  if (problem !== undefined) return problem.problem
  return asked.find((each) => each.kind === 'notFound')?.text ?? 'no gateway was reached'
}
