import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { conditionTypes, isFine, reasonEntry, reasons } from '../resources/reasons.ts'
import type { Condition, Status } from '../resources/status.ts'
import { readCases, translateAll } from '../testing/golden.ts'
import { troubleshootingPage } from './troubleshooting.ts'

function conditionsIn(status: Status): Condition[] {
  return [
    ...('conditions' in status ? (status.conditions ?? []) : []),
    ...('listeners' in status ? status.listeners.flatMap(({ conditions }) => conditions) : []),
    ...('parents' in status ? status.parents.flatMap(({ conditions }) => conditions) : []),
    ...('ancestors' in status ? status.ancestors.flatMap(({ conditions }) => conditions) : []),
  ]
}

describe('the troubleshooting page', () => {
  it('is up to date with the tables: npm run generate', () => {
    const file = new URL('../../../../docs/troubleshooting.md', import.meta.url)
    assert.equal(readFileSync(file, 'utf8'), troubleshootingPage())
  })

  it('covers every condition in the golden cases, with a fix for each problem', () => {
    const found = readCases().flatMap(({ resources }) =>
      [...translateAll(resources).statuses.values()].flatMap(conditionsIn),
    )
    assert.ok(found.length > 100)
    for (const condition of found) {
      assert.ok(Object.hasOwn(conditionTypes, condition.type), condition.type)
      const entry = reasonEntry(condition.reason)
      assert.ok(entry !== undefined, condition.reason)
      if (!isFine(condition)) assert.ok(entry.fix !== null, `${condition.type} (${condition.reason}) has no advice`)
    }
  })

  it('lists the kinds of each reason, alphabetically', () => {
    const names = Object.keys(reasons)
    assert.deepEqual(names, names.toSorted())
    assert.equal(reasonEntry('toString'), undefined)
  })
})
