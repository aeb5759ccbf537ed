/** Dated revisions of the protocol, oldest first. */
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const

/** The first revision without sessions: each request carries its client's metadata. */
export const SESSIONLESS = '2026-07-28'
/** The revision of clients that name none. */
export const LATEST_WITH_SESSIONS = '2025-11-25'

export function isKnownRevision(version: string): boolean {
  return (REVISIONS as readonly string[]).includes(version)
}

/** Whether a revision has no sessions. Dates compare as texts. */
export function isSessionless(version: string): boolean {
  return version >= SESSIONLESS
}

/** Members of `_meta` with the contents of `initialize` in older revisions. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
} as const

/** Errors of revisions without sessions. */
export const HEADER_MISMATCH = -32020
export const UNSUPPORTED_VERSION = -32022
/** The error code of servers for an unknown session. */
export const SESSION_NOT_FOUND = -32001
