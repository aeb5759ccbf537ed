import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, type Result } from '@portico/cel'
import * as fc from 'fast-check'
import { HeaderBlock } from '@portico/http'
import type { EditableMessage } from './editable-message.ts'
import type { Expression } from '../expression/expression.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { Env } from '../context/step.ts'
import { createTransform } from './transform.ts'

type Line = [name: string, value: string]

const name = fc.constantFrom('x-a', 'x_a', 'x.a', 'x-b', 'ab')
const value = fc.constantFrom<Result>(
  '1',
  '2',
  'two words',
  ['l1', 'l2'],
  [],
  'bad\nline',
  null,
  new CelError('failed', 'no'),
)
const header = fc.record({ name, value })

test('headers come out as a plain list of lines would', () => {
  const lines = fc.array(fc.tuple(name, fc.constantFrom('old', 'older')), { maxLength: 6 })
  const headers = fc.array(header, { maxLength: 5 })
  fc.assert(
    fc.property(lines, headers, headers, fc.array(name, { maxLength: 2 }), (received, add, set, remove) => {
      const results: Result[] = []
      const named = ({ name, value }: { name: string; value: Result }) => ({
        name,
        value: String(results.push(value) - 1),
      })
      const config = { add: add.map(named), set: set.map(named), remove }
      const message = messageOf(received)
      createTransform(config, envOf(results), 'request').apply(message, rx())
      let model: Line[] = received.slice()
      for (const { name, value } of add) model.push(...linesOf(name, value))
      for (const { name, value } of set) model = [...without(model, name), ...linesOf(name, value)]
      for (const name of remove) model = without(model, name)
      const seen: Line[] = []
      message.headers.forEach((name, value) => seen.push([name, value]))
      assert.deepEqual(seen, model)
    }),
    { seed: 9, numRuns: 2000 },
  )
})

test('metadata is what did not fail, each entry in place of an older one', () => {
  const entries = fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), value, { noNullPrototype: true })
  fc.assert(
    fc.property(entries, entries, (first, second) => {
      const request = rx()
      const expected: Record<string, unknown> = Object.create(null) as Record<string, unknown>
      for (const metadata of [first, second]) {
        const results: Result[] = []
        const config = Object.fromEntries(
          Object.entries(metadata).map(([name, value]) => [name, String(results.push(value) - 1)]),
        )
        createTransform({ metadata: config }, envOf(results), 'request').apply(messageOf([]), request)
        for (const [name, value] of Object.entries(metadata)) {
          if (!(value instanceof CelError)) expected[name] = value
        }
      }
      assert.deepEqual(new Map(Object.entries(request.metadata ?? {})), new Map(Object.entries(expected)))
    }),
    { seed: 10, numRuns: 1000 },
  )
})

function linesOf(name: string, value: Result): Line[] {
  if (Array.isArray(value)) return (value as string[]).map((line): Line => [name, line])
  return typeof value !== 'string' || value.includes('\n') ? [] : [[name, value]]
}

function without(lines: readonly Line[], name: string): Line[] {
  const plain = (text: string): string => text.replace(/[_.]/g, '-')
  return lines.filter(([other]) => plain(other) !== plain(name))
}

function messageOf(lines: readonly Line[]): EditableMessage {
  return { headers: HeaderBlock.of(lines), setPart: () => false, replaceBody: () => {} }
}

function rx(): RequestContext {
  return { metadata: null, trace: null } as RequestContext
}

/** Expressions are numbers of results. */
function envOf(results: readonly Result[]): Env {
  return { cel: (source: string) => expression(results[Number(source)]!) } as unknown as Env
}

function expression(result: Result): Expression {
  return {
    source: '',
    requestBody: 'none',
    responseBody: 'none',
    evaluate: () => result,
    isTrue: () => result === true,
  }
}
