import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { intersection } from './hostnames.ts'

describe('the intersection of two hostnames', () => {
  const cases: readonly (readonly [one: string, other: string, common: string | null])[] = [
    ['', '', ''],
    ['', 'a.example.com', 'a.example.com'],
    ['a.example.com', 'a.example.com', 'a.example.com'],
    ['a.example.com', 'b.example.com', null],
    ['*.example.com', 'a.example.com', 'a.example.com'],
    ['*.example.com', 'a.b.example.com', 'a.b.example.com'],
    ['*.example.com', 'example.com', null],
    ['*.example.com', 'aexample.com', null],
    ['*.example.com', '*.b.example.com', '*.b.example.com'],
    ['*.example.com', '*.example.com', '*.example.com'],
    ['*.example.com', '*.example.org', null],
    ['*.example.com', '', '*.example.com'],
  ]
  for (const [one, other, common] of cases) {
    it(`for "${one}" and "${other}", in either order`, () => {
      assert.equal(intersection(one, other), common)
      assert.equal(intersection(other, one), common)
    })
  }
})
