import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  discoveryPaths,
  discoveryPrefixes,
  readDiscoveryPath,
  authorizationPath,
  registrationPath,
  resourceMetadataPath,
  serverMetadataPaths,
} from './well-known.ts'

test('a discovery path says what is asked for, and about which endpoint', () => {
  const table: [string, string | null, string?][] = [
    ['/.well-known/oauth-protected-resource', 'resource', ''],
    ['/.well-known/oauth-protected-resource/', 'resource', ''],
    ['/.well-known/oauth-protected-resource/mcp', 'resource', '/mcp'],
    ['/.well-known/oauth-protected-resource/a/b/', 'resource', '/a/b/'],
    ['/.well-known/oauth-authorization-server', 'server', ''],
    ['/.well-known/oauth-authorization-server/mcp', 'server', '/mcp'],
    ['/mcp/.well-known/oauth-authorization-server', 'server', '/mcp'],
    ['/.well-known/openid-configuration', 'server', ''],
    ['/.well-known/openid-configuration/mcp', 'server', '/mcp'],
    ['/mcp/.well-known/openid-configuration', 'server', '/mcp'],
    ['/.well-known/oauth-authorization-server/client-registration', 'registration', ''],
    ['/.well-known/oauth-authorization-server/mcp/client-registration', 'registration', '/mcp'],
    ['/mcp/.well-known/openid-configuration/client-registration', 'registration', '/mcp'],
    ['/.well-known/oauth-authorization-server/mcp/client-authorization', 'authorization', '/mcp'],
    ['/mcp', null],
    ['/mcp/client-registration', null],
    ['/.well-known/oauth-protected-resources', null],
    ['/.well-known/other', null],
    ['/mcp/.well-known/oauth-protected-resource', null],
    ['/.well-known/OAuth-protected-resource', null],
  ]
  for (const [path, document, resource] of table) {
    const expected = document === null ? null : { document, resource }
    assert.deepEqual(readDiscoveryPath(path), expected, path)
  }
})

test('an issuer with a path has its metadata at two places', () => {
  assert.deepEqual(serverMetadataPaths('/'), {
    oauth: '/.well-known/oauth-authorization-server',
    openid: '/.well-known/openid-configuration',
  })
  const realm = {
    oauth: '/.well-known/oauth-authorization-server/realms/a',
    openid: '/realms/a/.well-known/openid-configuration',
  }
  assert.deepEqual(serverMetadataPaths('/realms/a'), realm)
  assert.deepEqual(serverMetadataPaths('/realms/a/'), realm)
})

test('every path that is made is read as what it was made for', () => {
  const segment = fc.stringMatching(/^[a-z0-9._~%-]{1,8}$/)
  const resources = fc.array(segment, { maxLength: 4 }).map((parts) => parts.map((part) => `/${part}`).join(''))
  fc.assert(
    fc.property(resources, (resource) => {
      assert.deepEqual(readDiscoveryPath(resourceMetadataPath(resource === '' ? '/' : resource)), {
        document: 'resource',
        resource,
      })
      for (const path of [...discoveryPaths(resource), ...discoveryPrefixes(resource)]) {
        assert.equal(readDiscoveryPath(path)?.resource, resource, path)
        if (path.includes('oauth-protected') || /\/client-(registration|authorization)$/.test(path)) continue
        assert.equal(readDiscoveryPath(registrationPath(path))?.document, 'registration')
        assert.equal(readDiscoveryPath(authorizationPath(path))?.document, 'authorization')
      }
    }),
  )
})
