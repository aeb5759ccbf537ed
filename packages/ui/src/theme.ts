import { createTheme } from '@mantine/core'

/** Colours, sizes and fonts are variables of `styles/tokens.css`: the page may not have styles inline. */
export const theme = createTheme({
  cursorType: 'pointer',
  defaultRadius: 'sm',
  respectReducedMotion: true,
  components: {
    // Scroll locks write a style of their own into the page.
    Modal: { defaultProps: { lockScroll: false, transitionProps: { duration: 80 } } },
    Tooltip: { defaultProps: { openDelay: 350 } },
  },
})
