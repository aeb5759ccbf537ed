import type {
  AttachedFrontend,
  AttachedTraffic,
  BackendPolicies,
  FrontendPolicies,
  ShadowPolicies,
  TrafficPolicies,
} from '../policies/index.ts'

type NetworkAuthorization = NonNullable<FrontendPolicies['networkAuthorization']>
type McpAuthorization = NonNullable<NonNullable<BackendPolicies['mcp']>['authorization']>
type BackendAttachment = { readonly backend: BackendPolicies | null }
type Attachment = { readonly frontend: AttachedFrontend | null }

/** Returns the enforced policies of an attachment, which are all policies but its shadow policies. */
export function enforcedIn(traffic: AttachedTraffic): TrafficPolicies {
  if (!hasShadows(traffic)) return traffic
  const { shadow: _shadow, ...rest } = traffic
  return Object.fromEntries(Object.entries(rest).filter(([, config]) => !isShadow(config)))
}

/**
 * Returns the shadow policies of an attachment: those under `shadow`, and those with `mode: Shadow`, which take
 * precedence.
 */
export function shadowsIn(traffic: AttachedTraffic): ShadowPolicies {
  if (!hasShadows(traffic)) return NONE
  const { shadow, ...rest } = traffic
  return { ...shadow, ...Object.fromEntries(Object.entries(rest).filter(([, config]) => isShadow(config))) }
}

/** Returns the enforced MCP authorization rules of attachments. */
export function mcpRules(attachments: readonly BackendAttachment[]): McpAuthorization[] {
  return attachments.flatMap(({ backend }) => {
    const rules = backend?.mcp?.authorization
    return rules === undefined || isShadow(rules) ? [] : [rules]
  })
}

/** Returns the shadow MCP authorization rules of attachments. */
export function mcpShadows(attachments: readonly BackendAttachment[]): McpAuthorization[] {
  return attachments.flatMap(({ backend }) => {
    const rules = backend?.mcp?.authorization
    const own = rules === undefined || !isShadow(rules) ? [] : [rules]
    return [...(backend?.mcp?.shadow === undefined ? [] : [backend.mcp.shadow.authorization]), ...own]
  })
}

/** Returns the enforced network authorization rules of attachments. */
export function networkRules(attachments: readonly Attachment[]): NetworkAuthorization[] {
  return attachments.flatMap(({ frontend }) => {
    const rules = frontend?.networkAuthorization
    return rules === undefined || isShadow(rules) ? [] : [rules]
  })
}

/** Returns the shadow network authorization rules of attachments. */
export function networkShadows(attachments: readonly Attachment[]): NetworkAuthorization[] {
  return attachments.flatMap(({ frontend }) => {
    const rules = [frontend?.shadow?.networkAuthorization, frontend?.networkAuthorization]
    return rules.filter(
      (each, index) => each !== undefined && (index === 0 || isShadow(each)),
    ) as NetworkAuthorization[]
  })
}

/** Whether an attachment has any shadow policy. */
export function hasShadows(traffic: AttachedTraffic): boolean {
  if (traffic.shadow !== undefined) return true
  for (const config of Object.values(traffic)) if (isShadow(config)) return true
  return false
}

/** Whether a policy has `mode: Shadow`. */
export function isShadow(config: unknown): boolean {
  return typeof config === 'object' && config !== null && 'mode' in config && config.mode === 'Shadow'
}

const NONE: ShadowPolicies = {}
