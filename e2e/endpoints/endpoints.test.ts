import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { buildGoClient, runGo, withoutGo } from '../foreign/go.ts'
import { runPython, withoutPython } from '../foreign/python.ts'
import type { Job, Library, Outcome } from './call.ts'
import { CALLS, type EndpointCall } from './calls.ts'
import { runJavaScript } from './javascript.ts'
import { type EndpointStand, startEndpointStand } from './stand.ts'
import { checkSums } from './sums.ts'

/**
 * The vendors' libraries in three languages on endpoints that are no chats: each call has the same outcome straight from
 * a fake of the vendor, which refuses what the vendor refuses, and through the built gateway with keys and budgets.
 */

interface Language {
  name: string
  skip: string | false
  /** Libraries without a client in this language. */
  without: readonly Library[]
  run: (t: TestContext, jobs: readonly Job[]) => Promise<Outcome[]>
}

const SCRIPTS: Readonly<Partial<Record<Library, string>>> = {
  openai: 'endpoints/openai_endpoints.py',
  anthropic: 'endpoints/anthropic_endpoints.py',
}

const languages: Language[] = [
  { name: 'JavaScript', skip: false, without: [], run: (_t, jobs) => runJavaScript(jobs) },
  {
    ...{ name: 'Python', skip: withoutPython, without: ['google', 'cohere', 'voyage'] },
    run: (_t, jobs) => runEachScript(jobs),
  },
  {
    ...{ name: 'Go', skip: withoutGo },
    // Voyage has no library for Go.
    without: ['voyage'],
    run: async (t, jobs) => runGo<Outcome[]>(await buildGoClient(t, 'endpoints'), { jobs }),
  },
]

/** To load a library takes longer than all of its calls, so each script runs once. */
async function runEachScript(jobs: readonly Job[]): Promise<Outcome[]> {
  const outcomes = new Map<Job, Outcome>()
  for (const script of new Set(Object.values(SCRIPTS))) {
    const own = jobs.filter(({ library }) => SCRIPTS[library] === script)
    const found = await runPython<Outcome[]>(script, { jobs: own })
    for (const [at, job] of own.entries()) outcomes.set(job, found[at] ?? assert.fail(`${script} printed too little`))
  }
  return jobs.map((job) => outcomes.get(job) ?? assert.fail(`no script for ${job.library}`))
}

for (const { name, skip, without, run } of languages) {
  describe(`endpoints from ${name}`, { skip }, () => {
    const calls = CALLS.filter(({ library }) => !without.includes(library))
    const direct = calls.filter(({ isOnlyGateway }) => isOnlyGateway !== true)
    let stand: EndpointStand
    let outcomes: Outcome[] = []
    before(async () => {
      stand = await startEndpointStand()
    })
    after(() => stand.close())

    it('runs all calls', async (t) => {
      const key = await stand.createKey('rich', { budgets: [{ usd: 1_000, per: 'Lifetime' }] })
      const poor = await stand.createKey('poor', { budgets: [{ usd: 0.0001, per: 'Lifetime' }] })
      const through = (call: EndpointCall, own: string): Job => ({ ...call, url: stand.url, key: own })
      outcomes = await run(t, [
        ...direct.map((call) => ({ ...call, ...stand.vendors[call.library] })),
        ...calls.map((call) => through(call, key)),
        ...PAID.filter(({ library }) => !without.includes(library)).map((call) => through(call, poor)),
      ])
    })

    for (const [at, call] of direct.entries()) {
      it(`${call.library} ${call.call}, straight from the vendor`, () => check(outcomes[at], call))
    }
    for (const [at, call] of calls.entries()) {
      it(`${call.library} ${call.call} of ${call.model}, through the gateway`, () =>
        check(outcomes[direct.length + at], call))
    }
    it('raises the refusal of a budget that has no room', () => {
      for (const outcome of outcomes.slice(direct.length + calls.length)) {
        assert.ok(outcome !== undefined && 'error' in outcome, JSON.stringify(outcome))
        assert.equal(outcome.error.status, 429)
        assert.match(outcome.error.message, /poor has \$0\.0001 of \$0\.0001 left/)
      }
    })
    it('is charged once for each call: log, budget and ledger agree', () => checkSums(stand))
  })
}

/** A call of each kind that costs money. */
const PAID = CALLS.filter(({ call, model, isOnlyGateway }) => {
  const isPaid = ['image', 'edit', 'speech', 'transcription', 'moderation', 'generate', 'embed', 'rerank'].includes(
    call,
  )
  return isPaid && isOnlyGateway !== true && model !== ''
})

function check(outcome: Outcome | undefined, { expected }: EndpointCall): void {
  if ('value' in expected) return assert.deepEqual(outcome, { value: expected.value })
  assert.ok(outcome !== undefined && 'error' in outcome, JSON.stringify(outcome))
  assert.equal(outcome.error.status, expected.status)
  assert.match(outcome.error.message, expected.message)
}
