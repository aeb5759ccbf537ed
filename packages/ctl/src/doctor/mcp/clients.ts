/** The sources of the protected resource metadata (RFC 9728), in the order in which a client tries them. */
export type ResourcePlace = 'header' | 'path' | 'root'

/** The way in which an MCP client discovers how to sign in. */
export interface McpClient {
  readonly name: string
  readonly title: string
  readonly resourcePlaces: readonly ResourcePlace[]
  /** Whether the client lets people enter a client id when the server has no client registration. */
  readonly takesClientId: boolean
}

/**
 * The MCP clients whose discovery the doctor repeats. Clients differ in the metadata paths that they try, and in their
 * registration.
 */
export const mcpClients: readonly McpClient[] = [
  { name: 'claude', title: 'Claude', resourcePlaces: ['path', 'root'], takesClientId: true },
  { name: 'cursor', title: 'Cursor', resourcePlaces: ['header', 'path', 'root'], takesClientId: false },
  { name: 'vscode', title: 'VS Code', resourcePlaces: ['header', 'path', 'root'], takesClientId: true },
  { name: 'copilot', title: 'Copilot', resourcePlaces: ['header', 'path', 'root'], takesClientId: false },
  { name: 'sdk', title: 'MCP SDKs', resourcePlaces: ['header', 'path', 'root'], takesClientId: false },
]
