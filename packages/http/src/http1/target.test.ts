import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAmbiguousPath, isAuthority, readTarget } from './target.ts'

test('origin form takes the authority from Host and the path as sent', () => {
  for (const path of [
    '/',
    '/a%2Fb',
    '/a;b=c',
    '/a?..',
    '/a?/../b',
    '/a...b/.c/..d',
    '/a%20',
    '//a',
    '/a/%2e%2ex',
    '/.well-known',
  ]) {
    assert.deepEqual(readTarget('GET', path, 'A.b:80'), { authority: 'A.b:80', target: path })
  }
})

test('paths that a backend may resolve to another are refused', () => {
  const dots = ['.', '..', '%2e', '%2E', '.%2e', '%2e.', '%2E%2e', '..;a=b', '.;', '%2e%2e;x']
  for (const dot of dots) {
    for (const path of [
      `/${dot}`,
      `/a/${dot}`,
      `/a/${dot}/b`,
      `/${dot}/b`,
      `/a%2f${dot}`,
      `/a%2F${dot}%2fb`,
      `/a%5c${dot}`,
      `/${dot}?q`,
    ]) {
      assert.equal(isAmbiguousPath(path), true, path)
      assert.deepEqual(readTarget('GET', path, 'a'), { problem: 'ambiguous_path' }, path)
    }
  }
  assert.deepEqual(readTarget('GET', 'http://a/b/../c', 'a'), { problem: 'ambiguous_path' })
})

test('absolute form must agree with Host', () => {
  assert.deepEqual(readTarget('GET', 'http://A/b?c', 'a'), { authority: 'A', target: '/b?c' })
  assert.deepEqual(readTarget('GET', 'HTTPS://a:1', 'a:1'), { authority: 'a:1', target: '/' })
  assert.deepEqual(readTarget('GET', 'http://a?q', 'a'), { authority: 'a', target: '/?q' })
  for (const host of ['b', 'a:80', 'a.']) {
    assert.deepEqual(readTarget('GET', 'http://a/', host), { problem: 'authority_mismatch' })
  }
  assert.deepEqual(readTarget('GET', 'http://a/', null), { problem: 'missing_host' })
  for (const target of ['http:///', 'http://u@a/', 'http://a:b/', 'http://a:123456/']) {
    assert.deepEqual(readTarget('GET', target, 'a'), { problem: 'bad_host' })
  }
  for (const target of ['ftp://a/', 'a', 'a/b', '?q', 'http:/a', 'http:a', 'javascript:a', '*a', 'a:80']) {
    assert.deepEqual(readTarget('GET', target, 'a'), { problem: 'bad_target' })
  }
})

test('asterisk form is for OPTIONS alone', () => {
  assert.deepEqual(readTarget('OPTIONS', '*', 'a'), { authority: 'a', target: '*' })
  assert.deepEqual(readTarget('GET', '*', 'a'), { problem: 'bad_target' })
  assert.deepEqual(readTarget('OPTIONS', '*', null), { problem: 'missing_host' })
  assert.deepEqual(readTarget('OPTIONS', '*', 'a b'), { problem: 'bad_host' })
})

test('OPTIONS about the server as a whole stays an asterisk in absolute form', () => {
  assert.deepEqual(readTarget('OPTIONS', 'http://a', 'a'), { authority: 'a', target: '*' })
  assert.deepEqual(readTarget('OPTIONS', 'http://a/', 'a'), { authority: 'a', target: '/' })
  assert.deepEqual(readTarget('OPTIONS', 'http://a?q', 'a'), { authority: 'a', target: '/?q' })
  assert.deepEqual(readTarget('GET', 'http://a', 'a'), { authority: 'a', target: '/' })
})

test('authority form is for CONNECT alone, with a port', () => {
  assert.deepEqual(readTarget('CONNECT', 'a:443', 'a:443'), { authority: 'a:443', target: '' })
  assert.deepEqual(readTarget('CONNECT', '[::1]:443', '[::1]:443'), { authority: '[::1]:443', target: '' })
  for (const target of ['a', '/', 'http://a:1/', 'u@a:1', 'a:', 'a:0', 'a:00', 'a:65536', 'a%00:1']) {
    assert.deepEqual(readTarget('CONNECT', target, target), { problem: 'bad_target' }, target)
  }
  assert.deepEqual(readTarget('CONNECT', 'a:1', 'b:1'), { problem: 'authority_mismatch' })
  assert.deepEqual(readTarget('GET', '/', null), { problem: 'missing_host' })
})

test('an authority is a host and perhaps a port', () => {
  for (const good of [
    'a',
    'A.b-c_d',
    'a:1',
    '1.2.3.4:65535',
    '[::1]',
    '[::ffff:1.2.3.4]:80',
    'xn--a.',
    'caf%C3%A9.test',
  ]) {
    assert.equal(isAuthority(good), true, good)
  }
  const bad = [
    '',
    ':80',
    'a:',
    'a:b',
    'a:123456',
    'a:65536',
    '[::1]:99999',
    'a%00',
    'a%0d%0a',
    'a%20b',
    'a%2fb',
    'a%40b',
    '%61',
    'a%',
    'a%8',
    'a%zz',
    'a b',
    'a@b',
    'a/b',
    'a?b',
    'a#b',
    'a\\b',
    '[::1',
    '::1',
    '[]',
    '[g]',
    'a:1:2',
    'a\xe9',
  ]
  for (const text of [...bad, 'a'.repeat(262), 'a\n', '[::1]x', 'a:80\n']) {
    assert.equal(isAuthority(text), false, text)
    assert.notEqual('problem' in readTarget('GET', '/', text), false, text)
  }
})
