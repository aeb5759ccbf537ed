import assert from 'node:assert/strict'
import { type AnswerUsage, type FailureKind } from '../providers/answer.ts'
import {
  ANSWERS,
  CACHE_WRITE_USAGE,
  CALLS,
  failureMessage,
  PERSON_SCHEMA,
  REASONING_USAGE,
  toldText,
  USAGE,
} from '../providers/scenes.ts'
import { type SdkReply, type SdkUsage, type Question, SdkFailure } from './client.ts'
import type { ClientTraits, UpstreamTraits } from './traits.ts'

/** A check of the outcome of a scene, for any client and any provider. The vendors' own libraries pass the same checks. */
interface Feature {
  name: string
  check(stage: Stage): Promise<void>
}

export interface Stage {
  client: ClientTraits
  upstream: UpstreamTraits
  streamed: boolean
  /** Models that reason take none. */
  takesTemperature: boolean
  ask(question: Omit<Question, 'model' | 'streamed'>): Promise<SdkReply>
}

export const features: Feature[] = [
  {
    name: 'text',
    async check(stage) {
      const heard = await stage.ask({ scene: 'text' })
      assert.equal(heard.text, said(ANSWERS.text))
      expectFinish(stage, heard, 'stop')
      expectUsage(stage, heard.usage, USAGE)
    },
  },
  {
    name: 'system prompt',
    async check(stage) {
      const heard = await stage.ask({ scene: 'system', system: 'You are a gate.' })
      assert.equal(heard.text, 'Told: You are a gate.')
    },
  },
  {
    name: 'settings',
    async check(stage) {
      const sampling = stage.client.sendsTemperature && stage.takesTemperature ? { temperature: 0.5 } : {}
      const heard = await stage.ask({ scene: 'settings', maxTokens: 300, ...sampling })
      const { maxTokens, temperature } = JSON.parse(heard.text)
      assert.deepEqual({ maxTokens, temperature }, { maxTokens: 300, temperature: sampling.temperature ?? null })
    },
  },
  {
    name: 'tool call',
    async check(stage) {
      const heard = await stage.ask({ scene: 'tool', tools: ['get_weather'] })
      expectCalls(heard, [CALLS.weather])
      expectFinish(stage, heard, 'toolCalls')
      expectUsage(stage, heard.usage, USAGE)
      const after = await heard.follow({ results: ['21 degrees'] })
      assert.equal(after.text, toldText(['21 degrees']))
      expectFinish(stage, after, 'stop')
    },
  },
  {
    name: 'parallel tool calls',
    async check(stage) {
      const heard = await stage.ask({ scene: 'parallel', tools: ['get_weather', 'get_time'] })
      assert.equal(heard.text, said(ANSWERS.weather))
      expectCalls(heard, [CALLS.weather, CALLS.clock])
      expectFinish(stage, heard, 'toolCalls')
      const after = await heard.follow({ results: ['21 degrees', '12:30'] })
      assert.equal(after.text, toldText(['21 degrees', '12:30']))
    },
  },
  {
    name: 'forced tool',
    async check(stage) {
      const heard = await stage.ask({ scene: 'forced', tools: ['get_weather', 'get_time'], force: 'get_weather' })
      expectCalls(heard, [CALLS.weather])
    },
  },
  {
    name: 'image',
    async check(stage) {
      const heard = await stage.ask({ scene: 'image', image: 'inline' })
      assert.equal(heard.text, said(ANSWERS.image))
    },
  },
  {
    name: 'reasoning',
    async check(stage) {
      const heard = await stage.ask({ scene: 'reasoning', reasons: true, maxTokens: 4000 })
      assert.equal(heard.text, said(ANSWERS.reasoned))
      assert.equal(heard.reasoning, isReasoningShown(stage) ? said(ANSWERS.reasoning) : '')
      expectUsage(stage, heard.usage, REASONING_USAGE)
      const after = await heard.follow({ text: 'Go on.' })
      const isReturned = stage.client.returnsReasoning && stage.upstream.signsReasoning
      assert.equal(after.text, `Signed reasoning came back: ${isReturned}`)
    },
  },
  {
    name: 'reasoning with a tool call',
    async check(stage) {
      const heard = await stage.ask({ scene: 'reasoning-tool', reasons: true, maxTokens: 4000, tools: ['get_weather'] })
      assert.equal(heard.reasoning, isReasoningShown(stage) ? said(ANSWERS.reasoning) : '')
      expectCalls(heard, [CALLS.weather])
      const after = await heard.follow({ results: ['21 degrees'] })
      assert.equal(after.text, toldText(['21 degrees']))
    },
  },
  {
    name: 'structured output',
    async check(stage) {
      const heard = await stage.ask({ scene: 'structured', schema: PERSON_SCHEMA })
      assert.deepEqual(JSON.parse(heard.text), { name: 'Ada', age: 36 })
    },
  },
  {
    name: 'stop reasons',
    async check(stage) {
      const long = await stage.ask({ scene: 'length' })
      assert.equal(long.text, said(ANSWERS.long))
      expectFinish(stage, long, 'length')
      const filtered = await stage.ask({ scene: 'filtered' })
      expectFinish(stage, filtered, 'filtered')
      if (!stage.client.sendsStop || !stage.upstream.takesStop) return
      const stopped = await stage.ask({ scene: 'stop', stop: ['END'] })
      expectFinish(stage, stopped, stage.upstream.namesStopSequence ? 'stopSequence' : 'stop')
    },
  },
  {
    name: 'refusal',
    async check(stage) {
      const heard = await stage.ask({ scene: 'refusal' })
      if (stage.client.showsRefusal || !stage.upstream.hasRefusals) {
        assert.equal(heard.text + heard.refusal, said(ANSWERS.refusal))
      }
      if (stage.upstream.hasRefusals) assert.equal(heard.finish, stage.client.refusalWord)
      else expectFinish(stage, heard, 'filtered')
    },
  },
  {
    name: 'usage of caches',
    async check(stage) {
      const heard = await stage.ask({ scene: 'cache' })
      expectUsage(stage, heard.usage, CACHE_WRITE_USAGE)
    },
  },
  {
    name: 'errors',
    async check(stage) {
      for (const kind of Object.keys(stage.upstream.statuses) as FailureKind[]) {
        const failure = await failureOf(stage.ask({ scene: `error-${kind}` }))
        assert.equal(failure.status, stage.upstream.statuses[kind], kind)
        assert.match(failure.message, new RegExp(failureMessage(kind)))
      }
      const limited = await failureOf(stage.ask({ scene: 'error-rateLimit-retry' }))
      assert.equal(limited.status, 429)
      if (stage.client.showsHeaders) assert.equal(limited.retryAfter, '7')
    },
  },
  {
    name: 'failure within a stream',
    async check(stage) {
      const failure = await failureOf(stage.ask({ scene: 'broken' }))
      assert.match(failure.message, /Too much to do right now/)
      if (!stage.streamed) assert.equal(failure.status, stage.upstream.statuses.overloaded)
    },
  },
]

function said(pieces: readonly string[]): string {
  return pieces.join('')
}

function expectCalls(heard: SdkReply, calls: readonly { name: string; arguments: string }[]): void {
  assert.deepEqual(
    heard.calls.map(({ name, arguments: given }) => ({ name, arguments: given })),
    calls.map(({ name, arguments: given }) => ({ name, arguments: JSON.parse(given) })),
  )
  assert.equal(new Set(heard.calls.map(({ id }) => id)).size === calls.length || heard.calls[0]?.id === '', true)
}

function expectFinish({ client }: Stage, heard: SdkReply, finish: keyof ClientTraits['finishWords']): void {
  assert.equal(heard.finish, client.finishWords[finish])
}

function isReasoningShown({ client, upstream }: Stage): boolean {
  return client.showsReasoning && upstream.showsReasoning
}

/** Numbers that a provider does not give are absent or 0 at the client; all others arrive. */
function expectUsage({ client, upstream }: Stage, heard: SdkUsage, usage: AnswerUsage): void {
  const cacheWrite = upstream.counts.cacheWrite ? usage.cacheWrite : 0
  const reasoning = upstream.counts.reasoning ? usage.reasoning : 0
  assert.deepEqual(
    {
      input: heard.input,
      output: heard.output,
      cacheRead: heard.cacheRead ?? 0,
      cacheWrite: client.counts.cacheWrite ? (heard.cacheWrite ?? 0) : 0,
      reasoning: client.counts.reasoning ? (heard.reasoning ?? 0) : 0,
    },
    {
      input: usage.input,
      output: usage.output,
      cacheRead: usage.cacheRead,
      cacheWrite: client.counts.cacheWrite ? cacheWrite : 0,
      reasoning: client.counts.reasoning ? reasoning : 0,
    },
  )
}

async function failureOf(asking: Promise<SdkReply>): Promise<SdkFailure> {
  try {
    await asking
  } catch (error) {
    if (error instanceof SdkFailure) return error
    throw error
  }
  throw new Error('it did not fail')
}
