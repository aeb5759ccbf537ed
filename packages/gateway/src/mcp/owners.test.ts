import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Clash, Owners } from './owners.ts'

const shown = (entries: Record<string, string[]>) =>
  Object.entries(entries).flatMap(([target, names]) => names.map((name) => ({ target, name, shown: name })))

test('lists tell whose a name is, each kind apart', () => {
  const owners = new Owners()
  owners.learn('tools/list', shown({ a: ['x'], b: ['y'] }))
  owners.learn('prompts/list', shown({ b: ['x'] }))
  assert.deepEqual(owners.find('tool', 'x'), { target: 'a', name: 'x' })
  assert.deepEqual(owners.find('prompt', 'x'), { target: 'b', name: 'x' })
  assert.equal(owners.find('prompt', 'y'), null)
})

test('a newer list replaces the one before', () => {
  const owners = new Owners()
  owners.learn('tools/list', shown({ a: ['x'] }))
  owners.learn('tools/list', shown({ b: ['x'] }))
  assert.deepEqual(owners.find('tool', 'x'), { target: 'b', name: 'x' })
})

test('a name that two targets have is a clash of both', () => {
  const owners = new Owners()
  owners.learn('tools/list', shown({ a: ['x', 'x'], b: ['x'], c: ['x'] }))
  assert.deepEqual(owners.find('tool', 'x'), new Clash('a', 'b'))
})

test('a resource that no list shows belongs to the template that says most about it', () => {
  const owners = new Owners()
  owners.learn('resources/list', shown({ a: ['test://a/1'] }))
  owners.learn('resources/templates/list', shown({ a: ['test://{+any}'], b: ['test://b/{id}'] }))
  assert.deepEqual(owners.find('resource', 'test://a/1'), { target: 'a', name: 'test://a/1' })
  assert.deepEqual(owners.find('resource', 'test://b/7'), { target: 'b', name: 'test://b/7' })
  assert.deepEqual(owners.find('resource', 'test://c'), { target: 'a', name: 'test://c' })
  // Completions name the template itself.
  assert.deepEqual(owners.find('resource', 'test://b/{id}'), { target: 'b', name: 'test://b/{id}' })
  assert.equal(owners.find('resource', 'other://x'), null)
})

test('a call goes by the name that the target has, not by the one that was shown', () => {
  const owners = new Owners()
  owners.learn('tools/list', [
    { target: 'a', name: 'x', shown: 'find' },
    { target: 'b', name: 'x', shown: 'x' },
  ])
  assert.deepEqual(owners.find('tool', 'find'), { target: 'a', name: 'x' })
  assert.deepEqual(owners.find('tool', 'x'), { target: 'b', name: 'x' })
})

test('only items that a list of their target has shown are listed', () => {
  const owners = new Owners()
  assert.equal(owners.isListed({ kind: 'tool', target: 'a', name: 'x' }), false)
  owners.noteListed('tools/list', [{ target: 'a', name: 'x' }])
  assert.equal(owners.isListed({ kind: 'tool', target: 'a', name: 'x' }), true)
  assert.equal(owners.isListed({ kind: 'tool', target: 'a', name: 'y' }), false)
  assert.equal(owners.isListed({ kind: 'tool', target: 'b', name: 'x' }), false)
  assert.equal(owners.isListed({ kind: 'prompt', target: 'a', name: 'x' }), false)
})
