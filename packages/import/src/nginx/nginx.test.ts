import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { printImport } from '../core/print-import.ts'
import { importNginx } from './import-nginx.ts'

interface PrintedRoute {
  readonly name: string
  readonly policies?: Readonly<Record<string, unknown>>
}

/** Imports a config with one server, and returns its imported routes. */
function routesOf(...lines: readonly string[]): readonly PrintedRoute[] {
  const text = `server {\n listen 8080;\n${lines.join('\n')}\n}\n`
  const result = importNginx([{ name: 'nginx.conf', text }], () => 'no files')
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  const config = parse(printImport(result.value, ['nginx.conf'], 'nginx').config) as {
    binds: readonly { listeners: readonly { routes: readonly PrintedRoute[] }[] }[]
  }
  return config.binds[0]?.listeners[0]?.routes ?? []
}

const OFFICE = { require: 'cidr("10.0.0.0/8").containsIP(source.address)' }

test('a named location that responds is behind the access rules of the location that leads to it', () => {
  const [route] = routesOf(
    'location / { allow 10.0.0.0/8; deny all; try_files $uri @text; }',
    'location @text { return 200 "text"; }',
  )
  assert.deepEqual(route?.policies, {
    authorization: { rules: [OFFICE] },
    directResponse: { status: 200, body: 'text' },
  })
})

test('locations within an internal one are internal too', () => {
  const routes = routesOf(
    'location /a/ {',
    'internal;',
    'proxy_pass http://a:1;',
    'location /a/b/ { proxy_pass http://a:2; } }',
  )
  for (const { name, policies } of routes) {
    assert.deepEqual(policies, { directResponse: { status: 404, body: 'not found\n' } }, name)
  }
  assert.equal(routes.length, 5)
})

test('methods that are denied get neither a redirect nor a text', () => {
  for (const change of ['rewrite ^/a/(.*)$ /b/$1 last;', 'rewrite ^ /b permanent;', 'return 200 "text";']) {
    const routes = routesOf(
      `location /a/ { limit_except GET { deny all; } ${change} }`,
      'location / { proxy_pass http://a:1; }',
    )
    const route = routes.find(({ name }) => name === 'a')
    assert.equal((route?.policies?.['directResponse'] as { status: number } | undefined)?.status, 501, change)
  }
})

test('rules of access are those of the nearest level that has one of them', () => {
  const [route] = routesOf('deny all;', 'location / { allow 10.0.0.0/8; deny all; proxy_pass http://a:1; }')
  assert.deepEqual(route?.policies?.['authorization'], { rules: [OFFICE] })
  const [open] = routesOf('deny all;', 'location / { allow all; proxy_pass http://a:1; }')
  assert.equal(open?.policies?.['authorization'], undefined)
})
