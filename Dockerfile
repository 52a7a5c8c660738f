FROM node:24.19.0-bookworm-slim AS base
WORKDIR /app

FROM base AS build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json build.js ./
COPY core core
COPY adapters adapters
COPY bootstrap bootstrap
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM base
ENV NODE_ENV=production HOST=0.0.0.0
COPY package.json CHANGELOG.md ./
# The service shows some of the guides.
COPY docs docs
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/adapters/docs/static adapters/docs/static
# The folder of the default SQLITE_FILE.
RUN mkdir --mode=700 data && chown 1000:1000 data
VOLUME /app/data
USER 1000:1000
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--enable-source-maps", "dist/bootstrap/main.js"]
