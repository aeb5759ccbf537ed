import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceOf } from './resource.ts'

const own = { 'service.name': 'portico', 'service.version': '1' }

test('the standard variables win over what the gateway says of itself', () => {
  const of = (env: Record<string, string>) => resourceOf(env, own)
  assert.deepEqual(of({}), { attributes: own, problem: null })
  assert.deepEqual(of({ OTEL_SERVICE_NAME: '', OTEL_RESOURCE_ATTRIBUTES: '' }), { attributes: own, problem: null })
  assert.deepEqual(
    { ...of({ OTEL_RESOURCE_ATTRIBUTES: ' service.name=shop, team = a%2Cb%20c ,x=,' }).attributes },
    { 'service.name': 'shop', 'service.version': '1', team: 'a,b c', x: '' },
  )
  const both = { OTEL_SERVICE_NAME: 'edge', OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop,__proto__=1' }
  const { attributes } = of(both)
  assert.equal(attributes['service.name'], 'edge')
  assert.equal(Object.hasOwn(attributes, '__proto__'), true)
})

test('a variable with a mistake counts for nothing', () => {
  for (const text of ['a', 'a=1,b', '=1', 'a=%zz', 'a=1;b']) {
    const { attributes, problem } = resourceOf({ OTEL_RESOURCE_ATTRIBUTES: text }, own)
    if (text === 'a=1;b') assert.equal(attributes['a'], '1;b')
    else assert.deepEqual([attributes, problem?.slice(0, 24)], [own, 'OTEL_RESOURCE_ATTRIBUTES'], text)
  }
})
