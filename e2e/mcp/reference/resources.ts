import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import { PNG } from './item.ts'

/** Resources that the scenarios of the conformance suite read by name. */
export const resources: readonly ((server: McpServer) => void)[] = [
  (server) =>
    server.registerResource(
      'static-text',
      'test://static-text',
      { description: 'A text.', mimeType: 'text/plain' },
      ({ href }) => ({
        contents: [{ uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
      }),
    ),
  (server) =>
    server.registerResource(
      'static-binary',
      'test://static-binary',
      { description: 'An image.', mimeType: 'image/png' },
      ({ href }) => ({ contents: [{ uri: href, mimeType: 'image/png', blob: PNG }] }),
    ),
  (server) =>
    server.registerResource(
      'watched-resource',
      'test://watched-resource',
      { description: 'A text that changes.', mimeType: 'text/plain' },
      ({ href }) => ({ contents: [{ uri: href, mimeType: 'text/plain', text: 'Watched.' }] }),
    ),
  (server) =>
    server.registerResource(
      'template',
      new ResourceTemplate('test://template/{id}/data', { list: undefined }),
      { description: 'Data by number.', mimeType: 'application/json' },
      ({ href }, { id }) => ({
        contents: [
          {
            uri: href,
            mimeType: 'application/json',
            text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
          },
        ],
      }),
    ),
]
