/**
 * Imports that make cycles between folders, by package: what is left of them. The list may only shrink. It is emptied by
 * moving the shared type or table to the lower room, or by composing the list of features in the room above them.
 */
export const cyclicImports: Readonly<Record<string, string>> = {
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
