import assert from 'node:assert/strict'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import type { EndpointStand } from './stand.ts'

/** Checks that log, budget and ledger have the same sum for the calls of the key `rich`, and nothing for others. */
export async function checkSums(stand: EndpointStand): Promise<void> {
  const calls = stand
    .lines()
    .filter((line) => line['apikey'] !== undefined || line['portico.ai.cost_usd'] !== undefined)
  const logged = calls.reduce((sum, line) => sum + nanoOf(line['portico.ai.cost_usd']), 0)
  assert.ok(logged > 0)
  let groups: Group[] = []
  const groupOf = (name: string): Group | undefined => groups.find(({ group }) => group['key'] === name)
  await eventually('the ledger has all calls', async () => {
    groups = ((await stand.read('usage?by=key')) as { groups: Group[] }).groups
    return nanoOf(groupOf('rich')?.costUsd) === logged
  })
  assert.equal(nanoOf(groupOf('poor')?.costUsd), 0)
  // Translations report nothing, so their cost is unknown, and their budget keeps what it has reserved: a dollar for a second.
  const { budgets } = (await stand.read('keys/rich')) as { budgets: { spent: string }[] }
  const kept = nanoOf(budgets[0]?.spent) - logged
  assert.ok(kept >= 50e9 && kept <= 52e9, `${kept} nano-dollars are neither spent nor given back`)
  const faults = stand.lines().filter(({ level }) => level === 'error' || level === 'warn')
  assert.deepEqual(faults, [])
}

interface Group {
  group: Record<string, string>
  costUsd: string | null
}

const nanoOf = (usd: unknown): number => Math.round(Number(usd ?? 0) * 1e9)
