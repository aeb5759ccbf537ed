import { isIssuer } from '../../schema/fields/auth/mcp-oauth.ts'
import type { CheckOnce, Report } from './report.ts'
import { SETTLED } from './settled.ts'
import type { Spot } from './tree.ts'

/** Checks the requirements of MCP OAuth on the policies around it. */
export function checkOauth(root: Spot, report: Report, once: CheckOnce): void {
  for (const policy of root.at('policies').items) checkTraffic(policy.at('traffic'), report)
  for (const listener of root.at('binds').items.flatMap((bind) => bind.at('listeners').items)) {
    checkTraffic(listener.at('policies'), report)
    for (const route of listener.at('routes').items) {
      if (!route.hasIn('policies', 'jwtAuthentication') && !route.hasIn('policies', 'mcpAuthentication')) continue
      once(route, SETTLED.oauth, () => checkTraffic(route.at('policies'), report))
    }
  }
}

function checkTraffic(traffic: Spot, report: Report): void {
  if (!traffic.has('jwtAuthentication') && !traffic.has('mcpAuthentication')) return
  const [jwt, mcp] = [traffic.at('jwtAuthentication'), traffic.at('mcpAuthentication')]
  if (mcp.exists) {
    checkResource(mcp, report)
    if (jwt.exists) {
      const found = 'found `mcpAuthentication` beside `jwtAuthentication`, which takes the token first'
      report('conflict', mcp, { found, expected: 'one of them', suggestion: 'use `jwtAuthentication.mcp`' })
    }
  }
  if (!jwt.at('mcp').exists) return
  checkResource(jwt.at('mcp'), report)
  const issuer = jwt.at('providers').items[0]?.at('issuer')
  if (typeof issuer?.text !== 'string' || isIssuer(issuer.text)) return
  const expected = 'a URL without user, query or fragment, because MCP clients are directed there'
  report('bad_format', issuer, { found: `found ${JSON.stringify(issuer.text)}`, expected })
}

function checkResource(oauth: Spot, report: Report): void {
  const resource = oauth.in('resourceMetadata', 'resource')
  if (!resource.exists || isIssuer(resource.text ?? '')) return
  const expected = 'the URL of the endpoint, such as `https://mcp.example.com/mcp`'
  report('bad_format', resource, { found: 'found an invalid URL', expected })
}
