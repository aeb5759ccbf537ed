/**
 * Imports that make cycles between folders, by package: what is left of them. The list may only shrink. It is emptied by
 * moving the shared type or table to the lower room, or by composing the list of features in the room above them.
 */
export const cyclicImports: Readonly<Record<string, string>> = {
  controller: `
    peers/peer-client.ts → publish/certificate.ts
    peers/peer-state-publisher.ts → publish/line-wire.ts
  `,
  ctl: `
    trace/source.ts → cluster/gateway-name.ts
  `,
  gateway: `
    mcp/conversation.ts → mcp/input/questions.ts
    mcp/conversation.ts → mcp/transports/transport.ts
    mcp/engine/endpoint.ts → mcp/client/guard.ts
    mcp/engine/exchange.ts → mcp/client/answer-port.ts
    mcp/engine/exchange.ts → mcp/client/forwarded-headers.ts
    mcp/engine/outward.ts → mcp/client/event-ids.ts
    mcp/merge/gather.ts → mcp/transports/transport.ts
    mcp/outbox.ts → mcp/transports/transport.ts
    mcp/remote/other-worker-stream.ts → mcp/hub/hub.ts
    mcp/remote/other-worker-stream.ts → mcp/transports/transport.ts
    mcp/remote/remote-answer.ts → mcp/outbox.ts
    mcp/remote/remote-answer.ts → mcp/transports/transport.ts
    mcp/remote/remote-waiter.ts → mcp/transports/transport.ts
    mcp/remote/session-stream.ts → mcp/transports/transport.ts
    mcp/remote/session-streams.ts → mcp/hub/hub.ts
    mcp/remote/session-streams.ts → mcp/transports/transport.ts
    mcp/remote/stream-host.ts → mcp/hub/hub.ts
    mcp/remote/stream-host.ts → mcp/transports/transport.ts
    mcp/session/introduce.ts → mcp/engine/end-span.ts
    mcp/session/introduce.ts → mcp/engine/newer-target.ts
    mcp/session/introduce.ts → mcp/engine/target.ts
    mcp/session/live-session.ts → mcp/engine/newer-target.ts
    mcp/session/live-session.ts → mcp/engine/target.ts
    mcp/transports/sse/post.ts → mcp/hub/hub.ts
    mcp/transports/stdio/transport.ts → mcp/hub/hub.ts
    mcp/transports/streamable-http/transport.ts → mcp/hub/hub.ts
  `,
  ui: `
    frame/palette-entries.ts → requests/search.ts
    frame/palette.tsx → requests/filter.ts
    frame/palette.tsx → routes/print-match.ts
    frame/play-entries.ts → models/known-models.ts
    frame/play-entries.ts → routes/print-match.ts
    parts/copy.tsx → frame/icons.tsx
    play/decided.tsx → requests/headline.tsx
    play/decided.tsx → requests/what-decided.ts
    play/decided.tsx → requests/why.tsx
    play/play-page.tsx → routes/print-match.ts
  `,
}
