import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Dependent, FoundText } from '@portico/chat'
import { chainOf } from '../chain.ts'
import type { Guard } from '../guard.ts'
import { guardWholeTexts, NativeEdits, type NativeText } from './native-edits.ts'
import { guardContext } from '../testing/guard-target.ts'

/** The place of a JSON value in a text. */
function placeOf(json: string, value: unknown): { start: number; end: number } {
  const written = JSON.stringify(value)
  const start = json.indexOf(written)
  assert.notEqual(start, -1, written)
  return { start, end: start + written.length }
}

function textIn(json: string, name: string, text: string): FoundText {
  return { do: 'text', name, text, form: 'text', isWhole: true, ...placeOf(json, text) }
}

function dependentIn(json: string, on: string, value: unknown, within: Dependent['within'] = 'record'): Dependent {
  return { do: 'depend', on, within, json: 'null', ...placeOf(json, value) }
}

/** A response with two choices, each with a text and probabilities of its tokens. */
const TWO = JSON.stringify({
  choices: [
    { text: 'first', logprobs: ['one'] },
    { text: 'second', logprobs: ['two'] },
  ],
})

/** Adds both choices, in the order in which their parts stand in the JSON. */
function addBoth(edits: NativeEdits): [NativeText, NativeText] {
  const first = edits.addText(textIn(TWO, '0.', 'first'))
  edits.addDependent(dependentIn(TWO, '0.', ['one']))
  const second = edits.addText(textIn(TWO, '1.', 'second'))
  edits.addDependent(dependentIn(TWO, '1.', ['two']))
  return [first, second]
}

describe('edits of a JSON text', () => {
  it('change each text in its place, and values that depend on the changed ones', () => {
    for (const [masked, expected] of [
      [[false, false], TWO],
      [[true, false], TWO.replace('first', '***').replace('["one"]', 'null')],
      [[false, true], TWO.replace('second', '***').replace('["two"]', 'null')],
      [
        [true, true],
        TWO.replace('first', '***').replace('second', '***').replace('["one"]', 'null').replace('["two"]', 'null'),
      ],
    ] as const) {
      const edits = new NativeEdits(TWO)
      addBoth(edits).forEach((text, index) => text.replace(masked[index] === true ? '***' : text.read))
      assert.equal(edits.write(new Set()), expected)
    }
  })

  it('are settled once the guards have released every character', () => {
    const edits = new NativeEdits(TWO)
    assert.equal(edits.isSettled, true)
    const [first, second] = addBoth(edits)
    first.replace('')
    assert.equal(edits.isSettled, false)
    second.write('se', 2)
    assert.deepEqual([edits.isSettled, second.left, second.written], [false, 4, 'se'])
    second.write('cond', 4)
    assert.deepEqual([edits.isSettled, second.isChanged], [true, false])
  })

  it('are refused when a mask breaks the JSON that a text is', () => {
    const json = '{"input":{"a":"b"}}'
    const found: FoundText = { ...textIn(json, 'i.', 'b'), text: null, form: 'json', ...placeOf(json, { a: 'b' }) }
    for (const [masked, expected] of [
      ['{"a":"*"}', '{"input":{"a":"*"}}'],
      ['{"a":*}', null],
    ] as const) {
      const edits = new NativeEdits(json)
      const text = edits.addText(found)
      assert.equal(text.read, '{"a":"b"}')
      text.replace(masked)
      assert.equal(edits.write(new Set()), expected)
    }
  })
})

describe('a value that depends on texts', () => {
  const json = JSON.stringify({ thinking: '', signature: 'sig' })

  /** The JSON of a record whose text is as given, with masks in earlier records. */
  function written(within: Dependent['within'], text: string | null, masked: readonly string[]): string | null {
    const own = JSON.stringify({ thinking: text ?? '', signature: 'sig' })
    const edits = new NativeEdits(text === null ? json : own)
    if (text !== null) edits.addText(textIn(own, '0.thinking', text)).replace(text)
    edits.addDependent(dependentIn(text === null ? json : own, '0.', 'sig', within))
    return edits.write(new Set(masked))
  }

  it('is void when an earlier record of its text was masked, and stays when that of another was', () => {
    assert.equal(written('answer', null, ['0.thinking']), '{"thinking":"","signature":null}')
    assert.equal(written('answer', null, ['1.thinking']), json)
    assert.equal(written('answer', 'and so on', ['0.thinking']), '{"thinking":"and so on","signature":null}')
  })

  it('stays when it is of its record alone, which has a text without a mask', () => {
    assert.equal(written('record', 'and so on', ['0.thinking']), '{"thinking":"and so on","signature":"sig"}')
    // A record without a text of its own repeats what earlier ones said.
    assert.equal(written('record', null, ['0.thinking']), '{"thinking":"","signature":null}')
    assert.equal(written('record', '', ['0.thinking']), '{"thinking":"","signature":null}')
  })
})

describe('whole texts of a response', () => {
  const json = JSON.stringify({ a: '', b: 'good', c: 'secret' })
  const context = { ...guardContext([]), about: [] }

  /** A guard that masks `secret`, and refuses `bad`; `seen` has the texts of each run. */
  function guardOf(seen: (readonly string[])[]): Guard {
    return {
      name: 'webhook',
      check(texts) {
        seen.push(texts)
        if (texts.includes('bad')) return { kind: 'reject', status: 451, body: 'no', found: [], reason: 'bad' }
        if (!texts.includes('secret')) return { kind: 'pass' }
        return { kind: 'mask', texts: texts.map((text) => (text === 'secret' ? '***' : text)), found: ['x'] }
      },
    }
  }

  it('go to each guard in one run, without empty ones, and come back in their places', async () => {
    const seen: (readonly string[])[] = []
    const edits = new NativeEdits(json)
    const texts = ['', 'good', 'secret'].map((text, index) => edits.addText(textIn(json, `${index}.`, text)))
    const { rejection, notes } = await guardWholeTexts(chainOf([guardOf(seen)], 'response'), texts, context)
    assert.deepEqual([rejection, notes.length, seen], [null, 1, [['good', 'secret']]])
    assert.equal(edits.isSettled, true)
    assert.equal(edits.write(new Set()), '{"a":"","b":"good","c":"***"}')
  })

  it('that pass stay as they are', async () => {
    const edits = new NativeEdits(json)
    const text = edits.addText(textIn(json, '1.', 'good'))
    assert.equal((await guardWholeTexts(chainOf([guardOf([])], 'response'), [text], context)).rejection, null)
    assert.deepEqual([edits.isSettled, edits.write(new Set())], [true, json])
  })

  it('are not asked about when all are empty', async () => {
    const seen: (readonly string[])[] = []
    const edits = new NativeEdits(json)
    const text = edits.addText(textIn(json, '0.', ''))
    const outcome = await guardWholeTexts(chainOf([guardOf(seen)], 'response'), [text], context)
    assert.deepEqual([outcome, seen, edits.isSettled], [{ rejection: null, notes: [] }, [], true])
  })

  it('are refused together when a guard refuses one of them', async () => {
    const bad = '{"a":"good","b":"bad"}'
    const edits = new NativeEdits(bad)
    const texts = ['good', 'bad'].map((text, index) => edits.addText(textIn(bad, `${index}.`, text)))
    const { rejection } = await guardWholeTexts(chainOf([guardOf([])], 'response'), texts, context)
    assert.equal(rejection?.status, 451)
    assert.equal(edits.isSettled, false)
  })
})
