import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type FieldProblem, Fields, printFieldProblem } from './fields.ts'

describe('fields of unvalidated resources', () => {
  it('returns valid values, and reports invalid ones, which count as absent', () => {
    const problems: FieldProblem[] = []
    const fields = new Fields(
      { name: 'a', port: 70_000, on: 'yes', list: {}, items: [{ id: 1 }, 'x'], labels: { a: 'b', c: 4 }, mode: 'Odd' },
      ['spec'],
      problems,
    )
    assert.equal(fields.text('name'), 'a')
    assert.equal(fields.integer('port', { min: 1, max: 65_535 }), undefined)
    assert.equal(fields.flag('on'), undefined)
    assert.deepEqual(fields.texts('list'), [])
    assert.deepEqual(
      fields.objects('items').map((item) => item.integer('id')),
      [1, undefined],
    )
    assert.deepEqual(fields.textsByKey('labels'), { a: 'b' })
    assert.equal(fields.choice('mode', ['Even']), undefined)
    assert.deepEqual(problems.map(printFieldProblem), [
      'spec.port must be an integer from 1 to 65535, is 70000',
      'spec.on must be true or false, is "yes"',
      'spec.list must be a list, is an object',
      'spec.items[1] must be an object, is "x"',
      'spec.labels.c must be a text, is 4',
      'spec.mode must be one of Even, is "Odd"',
    ])
  })

  it('reports fields that were not read, and treats null as absent', () => {
    const problems: FieldProblem[] = []
    const fields = new Fields({ known: null, other: 1 }, ['spec'], problems)
    assert.equal(fields.text('known'), undefined)
    fields.done()
    assert.deepEqual(problems, [
      { path: ['spec', 'other'], code: 'unknown', message: 'is not supported and was ignored' },
    ])
  })

  it('does not repeat long values', () => {
    const problems: FieldProblem[] = []
    assert.equal(new Fields({ size: 'x'.repeat(100) }, [], problems).integer('size'), undefined)
    assert.match(problems[0]?.message ?? '', /, is a string$/)
  })
})
