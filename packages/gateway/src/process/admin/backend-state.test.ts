import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { BackendsView } from '../../admin/config-view.ts'
import { request } from '../../testing/client.ts'
import { McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { useTarget } from '../../testing/mcp/mcp-target.ts'
import { eventually, useConfigFile, useProgram } from '../../testing/process.ts'
import { closedPort, httpConfig, pathPrefix, routeTo, useOrigin } from '../../testing/scene.ts'

describe('the state of backends without a health policy', () => {
  test('follows what happened to their calls', async (t) => {
    let isWell = false
    const origin = await useOrigin(t, (_seen, response) => response.writeHead(isWell ? 200 : 503).end())
    const dead = { host: `127.0.0.1:${await closedPort()}` }
    const target = await useTarget(t)
    const tools = { mcp: { targets: [{ name: 'tools', static: { host: '127.0.0.1', port: target.port } }] } }
    const config = httpConfig([
      routeTo(dead, {}, pathPrefix('/dead')),
      routeTo(origin, {}, pathPrefix('/origin')),
      { ...pathPrefix('/mcp'), backends: [tools] },
    ])
    const { file } = useConfigFile(t, { config: { workers: 1 }, ...config })
    const program = await useProgram(t, { args: ['-f', file] })
    const statesOf = async (): Promise<string[]> => {
      const view = (await (await fetch(`${program.admin}/api/backends`)).json()) as BackendsView
      return view.backends.flatMap(({ endpoints, groups }) => [
        ...endpoints.map(({ state, lastFailure }) => `${state} ${lastFailure?.cause ?? ''}`),
        ...groups.flat().map(({ lastError }) => `tools ${lastError?.outcome ?? 'well'}`),
      ])
    }
    assert.equal((await request(program.port(), { path: '/dead' })).status, 503)
    assert.equal((await request(program.port(), { path: '/origin' })).status, 503)
    await (await new McpCaller(program.port()).begin()).ask('tools/call', { name: 'unknown' })
    const wanted = ['failing connect_failed', 'failing status 503', 'tools well']
    await eventually('told', async () => {
      const seen = await statesOf()
      return wanted.every((state) => seen.includes(state))
    })
    isWell = true
    assert.equal((await request(program.port(), { path: '/origin' })).status, 200)
    await eventually('recovered', async () => {
      const seen = await statesOf()
      return seen.includes('failing connect_failed') && seen.includes('healthy status 503')
    })
  })
})
