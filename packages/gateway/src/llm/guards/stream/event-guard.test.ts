import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock } from '@portico/http'
import { type ChatEvent, collectResponse } from '@portico/chat'
import type { Guard } from '../guard.ts'
import type { EventGuard } from './event-guard.ts'
import { ResponseGuards } from '../prompt-guards.ts'
import { createRegexGuard } from '../regex/guard.ts'
import type { RegexGuardConfig } from '../regex/schema.ts'
import { answers } from '../testing/answers.ts'

const context = { requestHeaders: new HeaderBlock(), responseHeaders: new HeaderBlock() }
const response = { message: 'The response was rejected due to inappropriate content.', statusCode: 403 }

function regexGuard(config: Partial<RegexGuardConfig> = {}): Guard {
  return createRegexGuard({ matches: [], builtins: ['Ssn', 'Email'], action: 'Mask', ...config }, response)
}

/** Has to be asked, and answers later: hides secrets, refuses what is bad, cannot judge what is odd. */
const asked: Guard = {
  name: 'webhook',
  async check(texts) {
    await Promise.resolve()
    if (texts.some((text) => text.includes('bad'))) {
      return { kind: 'reject', status: 451, body: 'bad', found: ['badness'], reason: 'bad' }
    }
    if (texts.some((text) => text.includes('odd'))) throw new Error(`cannot judge ${texts.join()}`)
    const masked = texts.map((text) => text.replaceAll('secret', '******'))
    return masked.join() === texts.join() ? { kind: 'pass' } : { kind: 'mask', texts: masked, found: ['secret'] }
  },
}

const START: ChatEvent = { type: 'start', id: 'id', model: 'model' }
const FINISH: ChatEvent = { type: 'finish', reason: 'stop' }

function textEvents(...texts: string[]): ChatEvent[] {
  return [
    START,
    { type: 'partStart', index: 0, part: { type: 'text' } },
    ...texts.map((text): ChatEvent => ({ type: 'partDelta', index: 0, text })),
    { type: 'partEnd', index: 0 },
    FINISH,
  ]
}

describe('guarding a stream', () => {
  it('masks a match over several chunks before any of it goes on', () => {
    const guard = new ResponseGuards([regexGuard()]).eventStream(context)
    const released = textEvents('My SSN is 12', '3-45', '-67', '89, bye').map((event) => guard.push([event]))
    assert.deepEqual(
      released.map((events) => (Array.isArray(events) ? textOf(events) : assert.fail('asked'))),
      ['', '', 'My SSN is ', '', '', '<SSN>, ', 'bye', ''],
    )
    assert.deepEqual(guard.notes, [{ index: 0, guard: 'regex', verdict: 'mask', found: ['Ssn'] }])
  })

  it('masks even where the config says reject, which is for requests', () => {
    const guards = new ResponseGuards([regexGuard({ action: 'Reject' })])
    assert.equal(textOf(sync(guards, textEvents('123-45-6789'))), '<SSN>')
  })

  it('leads masked text to the next guard', async () => {
    const other = regexGuard({ builtins: [], matches: ['<SSN>|<EMAIL'] })
    assert.equal(textOf(sync(new ResponseGuards([regexGuard(), other]), textEvents('a 123-45-6789 b'))), 'a <masked> b')
    const { events, guard } = await streamed([regexGuard(), asked, other], textEvents('secret 123-45-', '6789'))
    assert.equal(textOf(events), '****** <masked>')
    assert.deepEqual(
      guard.notes.map(({ verdict }) => verdict),
      ['mask', 'mask', 'mask'],
    )
  })

  it('ends with an error event when a guard refuses, and lets nothing follow', async () => {
    const { events, guard } = await streamed([asked], textEvents('this is ba', 'd'))
    assert.deepEqual(events, [
      START,
      { type: 'partStart', index: 0, part: { type: 'text' } },
      {
        type: 'error',
        error: { status: 451, kind: 'invalid', message: 'bad', code: 'guardrail_intervention' },
      },
    ])
    assert.equal(guard.rejection?.status, 451)
    assert.deepEqual(await guard.push(textEvents('more')), [])
    assert.deepEqual(await guard.end(), [])
    assert.deepEqual(guard.notes, [
      { index: 0, guard: 'webhook', verdict: 'reject', found: ['badness'], reason: 'bad' },
    ])
  })

  it('lets go of nothing from the batch that is refused', async () => {
    const text = `${'good '.repeat(300)}bad ${'good '.repeat(300)}`
    const { events } = await streamed([asked], textEvents(...text.split('')))
    const seen = textOf(events)
    assert.ok(text.startsWith(seen) && seen.length > 0 && !seen.includes('bad'))
    assert.equal(events.at(-1)!.type, 'error')
  })

  it('fails closed when a guard breaks, and says nothing of the text', async () => {
    const { events, guard } = await streamed([asked], textEvents('odd text'))
    assert.deepEqual(events.at(-1), {
      type: 'error',
      error: { status: 503, kind: 'api', message: 'prompt guard failed', code: 'guardrail_failed' },
    })
    assert.deepEqual(guard.notes, [
      { index: 0, guard: 'webhook', verdict: 'failed', reason: 'the guard failed unexpectedly' },
    ])
  })

  it('goes on when the guard may fail open', async () => {
    const { events, guard } = await streamed(
      [{ ...asked, failsOpen: true }, regexGuard()],
      textEvents('odd 123-45-6789'),
    )
    assert.equal(textOf(events), 'odd <SSN>')
    assert.equal(guard.notes[0]!.verdict, 'failedOpen')
  })

  it('fails closed on a match that never ends', () => {
    const guard = new ResponseGuards([regexGuard({ matches: ['(?s)key.*'] })]).eventStream(context)
    const events = textEvents('key ', ...Array.from({ length: 500 }, () => 'x'.repeat(100))).flatMap((event) => {
      const released = guard.push([event])
      return Array.isArray(released) ? released : assert.fail('asked')
    })
    assert.equal(textOf(events), '')
    assert.equal(events.at(-1)!.type, 'error')
    assert.equal(guard.notes[0]!.verdict, 'failed')
  })

  it('guards reasoning, and drops a signature that does not fit the text any more', () => {
    const reasoning = (text: string): ChatEvent[] => [
      { type: 'partStart', index: 0, part: { type: 'reasoning' } },
      { type: 'partDelta', index: 0, text },
      { type: 'partEnd', index: 0, signature: 'anthropic:sig' },
    ]
    const guards = new ResponseGuards([regexGuard()])
    assert.deepEqual(collectResponse(sync(guards, reasoning('of 123-45-6789'))).parts, [
      { type: 'reasoning', text: 'of <SSN>' },
    ])
    assert.deepEqual(collectResponse(sync(guards, reasoning('of nothing'))).parts, [
      { type: 'reasoning', text: 'of nothing', signature: 'anthropic:sig' },
    ])
  })

  it('guards the arguments of tool calls, which stay JSON', () => {
    const events: ChatEvent[] = [
      { type: 'partStart', index: 0, part: { type: 'toolCall', id: 'c', name: 'send' } },
      { type: 'partDelta', index: 0, text: '{"to":"jo' },
      { type: 'partDelta', index: 0, text: 'hn@example.com","ssn":123456' },
      { type: 'partDelta', index: 0, text: '789}' },
      { type: 'partEnd', index: 0, signature: 'google:sig' },
      FINISH,
    ]
    assert.deepEqual(collectResponse(sync(new ResponseGuards([regexGuard()]), events)).parts, [
      {
        type: 'toolCall',
        id: 'c',
        name: 'send',
        arguments: '{"to":"<EMAIL_ADDRESS>","ssn":"<SSN>"}',
        signature: 'google:sig',
      },
    ])
  })

  it('guards what only the provider can say', async () => {
    const events: ChatEvent[] = [
      { type: 'partStart', index: 0, part: { type: 'native', format: 'messages', value: { found: '123-45-6789' } } },
      { type: 'partEnd', index: 0 },
      { type: 'partStart', index: 1, part: { type: 'text' } },
      { type: 'partEnd', index: 1, rest: { citations: [{ cited_text: 'secret of a@b.com' }] } },
    ]
    const { events: guarded } = await streamed([regexGuard(), asked], events)
    assert.deepEqual(guarded, [
      { type: 'partStart', index: 0, part: { type: 'native', format: 'messages', value: { found: '<SSN>' } } },
      { type: 'partEnd', index: 0 },
      { type: 'partStart', index: 1, part: { type: 'text' } },
      { type: 'partEnd', index: 1, rest: { citations: [{ cited_text: '****** of <EMAIL_ADDRESS>' }] } },
    ])
  })

  it('guards a text whose part nobody announced', () => {
    const events: ChatEvent[] = [{ type: 'partDelta', index: 3, text: '123-45-6789' }, FINISH]
    assert.deepEqual(sync(new ResponseGuards([regexGuard()]), events), [
      { type: 'partDelta', index: 3, text: '<SSN>' },
      FINISH,
    ])
  })

  it('keeps finish and usage behind the last check', async () => {
    const usage: ChatEvent = { type: 'usage', usage: { output: 1 } }
    const given = textEvents('hello')
    const events = [...given.slice(0, 3), usage, { type: 'usage', usage: { input: 2 } } as const, FINISH]
    const { events: guarded } = await streamed([asked], events)
    assert.deepEqual(guarded.slice(2), [
      { type: 'partDelta', index: 0, text: 'hello' },
      { type: 'usage', usage: { output: 1, input: 2 } },
      FINISH,
    ])
    const { events: refused } = await streamed([asked], [...textEvents('bad').slice(0, 3), usage, FINISH])
    assert.deepEqual(
      refused.map(({ type }) => type),
      ['start', 'partStart', 'error'],
    )
  })

  it('gives the rest of a stream that has no end', async () => {
    const guard = new ResponseGuards([regexGuard()]).eventStream(context)
    assert.equal(textOf(await guard.push(textEvents('123-45-6789').slice(0, 3))), '')
    assert.equal(textOf(await guard.end()), '<SSN>')
  })
})

describe('a guarded stream and a guarded answer', () => {
  const sets: Record<string, Guard[]> = {
    regex: [
      regexGuard({ builtins: ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'], matches: ['secret-[a-z]+'] }),
    ],
    'two of them': [
      regexGuard({ matches: ['(?i)project-x'] }),
      regexGuard({ builtins: ['PhoneNumber'], matches: ['[<>]+'] }),
    ],
    'one that is asked': [asked],
    'all together': [regexGuard(), asked, regexGuard({ builtins: ['CreditCard'], matches: ['\\*+-'] })],
  }
  for (const [name, guards] of Object.entries(sets)) {
    it(`are the same: ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(answers, async (events) => {
          const { events: stream, guard } = await streamed(guards, events)
          const whole = await new ResponseGuards(guards).events(events, context)
          assert.ok(whole.answer.kind === 'events' || guard.rejection !== null)
          if (whole.answer.kind === 'events')
            assert.deepEqual(collectResponse(stream), collectResponse(whole.answer.events))
        }),
        { numRuns: 200 },
      )
    })
  }

  it('gives back the very events when nothing was masked', () => {
    const events = textEvents('nothing', ' here')
    const { answer } = new ResponseGuards([regexGuard()]).events(events, context) as {
      answer: { events: unknown }
    }
    assert.equal(answer.events, events)
  })

  it('refuses a whole answer with the status and the body of the config', async () => {
    const { answer, notes } = await new ResponseGuards([regexGuard(), asked]).events(textEvents('bad'), context)
    assert.deepEqual(answer, { kind: 'reject', status: 451, body: 'bad', found: ['badness'], reason: 'bad' })
    assert.deepEqual(
      notes.map(({ verdict }) => verdict),
      ['pass', 'reject'],
    )
  })
})

function textOf(events: readonly ChatEvent[]): string {
  return events.map((event) => (event.type === 'partDelta' ? event.text : '')).join('')
}

/** With guards that never wait. */
function sync(guards: ResponseGuards, events: readonly ChatEvent[]): ChatEvent[] {
  const guard = guards.eventStream(context)
  return [...events.map((event) => [event]), null].flatMap((batch) => {
    const released = batch === null ? guard.end() : guard.push(batch)
    return Array.isArray(released) ? released : assert.fail('asked')
  })
}

async function streamed(
  guards: readonly Guard[],
  events: readonly ChatEvent[],
): Promise<{ events: ChatEvent[]; guard: EventGuard }> {
  const guard = new ResponseGuards(guards).eventStream(context)
  const released: ChatEvent[] = []
  for (const event of events) released.push(...(await guard.push([event])))
  released.push(...(await guard.end()))
  return { events: released, guard }
}
