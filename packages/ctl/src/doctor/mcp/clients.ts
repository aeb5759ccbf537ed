/** The places of the document about the server, in the order in which a client tries them. */
export type ResourcePlace = 'header' | 'path' | 'root'

/** How a client finds out how to sign in. */
export interface McpClient {
  readonly name: string
  readonly title: string
  readonly resourcePlaces: readonly ResourcePlace[]
  /** Whether people can enter a client id when the client cannot register itself. */
  readonly takesClientId: boolean
}

/** The clients whose order of discovery is played. They differ in the places that they try, and in registration. */
export const mcpClients: readonly McpClient[] = [
  { name: 'claude', title: 'Claude', resourcePlaces: ['path', 'root'], takesClientId: true },
  { name: 'cursor', title: 'Cursor', resourcePlaces: ['header', 'path', 'root'], takesClientId: false },
  { name: 'vscode', title: 'VS Code', resourcePlaces: ['header', 'path', 'root'], takesClientId: true },
  { name: 'copilot', title: 'Copilot', resourcePlaces: ['header', 'path', 'root'], takesClientId: false },
  { name: 'sdk', title: 'MCP SDKs', resourcePlaces: ['header', 'path', 'root'], takesClientId: false },
]
