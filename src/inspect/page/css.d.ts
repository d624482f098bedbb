// Styles are taken in by the build; the code imports them for that and nothing else.
declare module '*.css'
