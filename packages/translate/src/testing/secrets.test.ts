import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readValue } from '../resources/material.ts'
import { readCases, translateAll } from './golden.ts'

test('no status contains content of a Secret', () => {
  let looked = 0
  for (const { name, resources } of readCases()) {
    const said = JSON.stringify([...translateAll(resources).statuses])
    for (const secret of resources.filter(({ kind }) => kind === 'Secret')) {
      for (const key of Object.keys({ ...(secret.data as object), ...(secret.stringData as object) })) {
        const value = readValue(secret, key) ?? ''
        // Short words may occur for other reasons.
        for (const word of value.split(/[\s"]+/).filter((part) => part.length > 8)) {
          assert.ok(!said.includes(word), `${name}: ${word}`)
          looked++
        }
      }
    }
  }
  assert.ok(looked > 20)
})
