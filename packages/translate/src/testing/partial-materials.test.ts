import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { kindOf } from '../resources/kinds.ts'
import { isMaterialKind } from '../resources/material.ts'
import { keyOf, type Resource } from '../resources/resource.ts'
import { createTranslator, printTranslated, readCase, readCases, toPlain, translateAll } from './golden.ts'

describe('Secrets and ConfigMaps whose content arrives later', () => {
  for (const { name, resources } of readCases()) {
    const whole = new Map(
      resources.filter(isMaterial).map((resource) => [`${resource.kind}/${keyOf(resource)}`, resource]),
    )
    if (whole.size === 0) continue
    it(`${name}: nothing is reported that would be withdrawn`, () => {
      const translator = createTranslator()
      for (const resource of resources) translator.put(isMaterial(resource) ? partOf(resource) : resource)
      const final = toPlain(translateAll(resources))
      const missing = new Set(whole.keys())
      for (;;) {
        const wanted = translator.materials().filter((id) => missing.has(id))
        translator.settle()
        for (const [part, told] of Object.entries(toPlain(translator))) {
          for (const [key, value] of Object.entries(told)) assert.deepEqual(value, Reflect.get(final[part] ?? {}, key))
        }
        for (const key of wanted) {
          missing.delete(key)
          translator.put(whole.get(key) ?? assert.fail(key))
        }
        if (wanted.length === 0) break
      }
      assert.equal(printTranslated(translator), printTranslated(translateAll(resources)))
      assert.ok(!translator.waits('Gateway/shop/web'))
    })
  }

  it('are requested only when something refers to them', () => {
    const resources = readCase('traffic-policies/api-keys-by-labels')
    const translator = createTranslator()
    for (const resource of resources) translator.put(isMaterial(resource) ? partOf(resource) : resource)
    assert.deepEqual(translator.materials(), ['Secret/shop/a', 'Secret/shop/b'])
    translator.drop('GwPolicy', 'shop/policy')
    assert.deepEqual(translator.materials(), [])
  })
})

function isMaterial(resource: Resource): boolean {
  const kind = kindOf(resource)
  return kind !== null && isMaterialKind(kind)
}

function partOf({ apiVersion, kind, metadata }: Resource): Resource {
  return { apiVersion, kind, metadata, isPartial: true }
}
