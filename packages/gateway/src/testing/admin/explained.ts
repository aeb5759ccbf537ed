import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Explanation, RequestList } from '../../exports/admin-api.ts'
import { eventually, type Program } from '../process.ts'

/** Explanations of the admin server of a program. */

/** The page about explanations. */
export const page = readFileSync(fileURLToPath(new URL('../../../../../docs/explain.md', import.meta.url)), 'utf8')
const [, yaml = ''] = /^```yaml\n([^]*?)^```$/m.exec(page) ?? []
/** The config of the page, on a free port. */
export const config = yaml.replace('port: 3000', 'port: 0')

/** The recorded requests that were denied. */
export async function refusals(program: Program): Promise<RequestList['requests']> {
  const answer = await fetch(`${program.admin}/api/requests?outcome=denied`)
  return ((await answer.json()) as RequestList).requests
}

/** The explanation of a recorded request. */
export async function explained(program: Program, id: string): Promise<Explanation> {
  const answer = await fetch(`${program.admin}/api/requests/${id}/explain`)
  assert.equal(answer.status, 200)
  return (await answer.json()) as Explanation
}

/** Waits until the config of that generation is live. */
export async function untilGeneration(program: Program, generation: number): Promise<void> {
  await eventually('the next config is live', async () => {
    const state = (await (await fetch(`${program.admin}/api/state`)).json()) as { generation: number }
    return state.generation === generation
  })
}
