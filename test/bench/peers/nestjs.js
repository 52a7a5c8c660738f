import 'reflect-metadata';
import {
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Post,
  Query,
  Req,
  UnauthorizedException,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { getConnectionToken, getModelToken, MongooseModule } from '@nestjs/mongoose';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Type } from 'class-transformer';
import { IsEnum, IsInt, IsISO8601, IsNumberString, IsOptional, IsUrl, Length, MaxLength, Min } from 'class-validator';
import mongoose from 'mongoose';
import { __decorate, __metadata, __param } from 'tslib';
import {
  answerOf,
  answersOf,
  BY_ID,
  BY_TIME,
  Callers,
  DRIVER,
  documentOf,
  filterOf,
  NEWEST_FIRST,
  PAGE_SIZE,
  SHOWN,
  shareId,
  sharesOf,
} from './campaigns.js';

/**
 * NestJS on its Fastify adapter, with Mongoose and class-validator; reads are `lean`. Written as TypeScript's compiler
 * would write it, for JavaScript has no decorators.
 */
const decorated = (target, name, type, ...decorators) =>
  __decorate([...decorators, __metadata('design:type', type)], target.prototype, name, undefined);

class NewCampaign {}
decorated(NewCampaign, 'name', String, Length(1, 190));
for (const name of ['description', 'shareContext', 'objective']) decorated(NewCampaign, name, String, MaxLength(5000));
decorated(NewCampaign, 'status', String, IsEnum(['draft', 'published', 'archived']));
decorated(NewCampaign, 'destinationUrl', String, IsUrl(), MaxLength(2048));
for (const name of ['startDate', 'endDate']) decorated(NewCampaign, name, String, IsISO8601());
for (const name of ['shareRewardAmount', 'clickRewardAmount', 'maxRewardPerEmployee', 'totalBudget']) {
  decorated(
    NewCampaign,
    name,
    String,
    IsNumberString(),
    Type(() => String),
  );
}

class ListQuery {
  page = 1;
}
decorated(
  ListQuery,
  'page',
  Number,
  IsOptional(),
  IsInt(),
  Min(1),
  Type(() => Number),
);
decorated(ListQuery, 'search', String, IsOptional(), MaxLength(200));

const { Mixed } = mongoose.Schema.Types;
const kept = { versionKey: false, autoIndex: false };
const Campaign = new mongoose.Schema(
  {
    ...{ _id: String, workspaceId: String, createdBy: String, revision: String },
    ...{ name: String, description: String, shareContext: String, objective: String, status: String },
    ...{ destinationUrl: String, domain: String, image: String, contentPillarId: String, searchText: String },
    ...{ startDate: String, endDate: String, startsAt: Number, endsAt: Number, archived: Boolean },
    ...{ shareRewardAmount: String, clickRewardAmount: String, maxRewardPerEmployee: String, totalBudget: String },
    ...{ tagIds: [String], groupIds: [String], resources: [Mixed], targetShares: Number },
    ...{ clicks: Number, shares: Number, createdAt: String, updatedAt: String },
  },
  kept,
);
const Share = new mongoose.Schema({ _id: String, workspaceId: String, campaignId: String }, kept);

class CampaignService {
  constructor(campaigns, shares) {
    this.campaigns = campaigns;
    this.shares = shares;
  }

  async list(caller, { page, search }) {
    const found = await this.campaigns
      .find(filterOf(caller.workspaceId, search), SHOWN)
      .sort(NEWEST_FIRST)
      .hint(BY_TIME)
      .skip((page - 1) * PAGE_SIZE)
      .limit(PAGE_SIZE)
      .lean();
    return answersOf(
      found,
      await this.shares.find(sharesOf(caller, found), { _id: 0, campaignId: 1 }).hint(BY_ID).lean(),
    );
  }

  async get({ workspaceId, memberId }, id) {
    const [found, share] = await Promise.all([
      this.campaigns.findOne({ workspaceId, _id: id }, SHOWN).hint(BY_ID).lean(),
      this.shares
        .findOne({ workspaceId, _id: shareId(memberId, id) }, { _id: 1 })
        .hint(BY_ID)
        .lean(),
    ]);
    if (!found) throw new NotFoundException();
    return answerOf(found, share !== null);
  }

  async create(caller, body) {
    return answerOf(await this.campaigns.create(documentOf(body, caller)), false);
  }
}
__decorate([Injectable()], CampaignService);
Reflect.defineMetadata(
  'self:paramtypes',
  [getModelToken('campaigns'), getModelToken('shares')].map((param, index) => ({ index, param })),
  CampaignService,
);

class CampaignController {
  constructor(service) {
    this.service = service;
  }

  list({ caller }, query) {
    return this.service.list(caller, query);
  }

  get({ caller }, id) {
    return this.service.get(caller, id);
  }

  create({ caller }, body) {
    return this.service.create(caller, body);
  }
}
const route = (name, types, ...decorators) => {
  const all = [...decorators, __param(0, Req()), __metadata('design:paramtypes', types)];
  __decorate(all, CampaignController.prototype, name, null);
};
route('list', [Object, ListQuery], Get(), __param(1, Query()));
route('get', [Object, String], Get(':id'), __param(1, Param('id')));
route('create', [Object, NewCampaign], Post(), __param(1, Body()));
const Routes = __decorate(
  [Controller('campaigns'), __metadata('design:paramtypes', [CampaignService])],
  CampaignController,
);

class KeyGuard {
  constructor(connection) {
    this.callers = new Callers(connection);
  }

  async canActivate(context) {
    const request = context.switchToHttp().getRequest();
    request.caller = await this.callers.of(request.headers.authorization);
    if (!request.caller) throw new UnauthorizedException();
    return true;
  }
}

class CampaignModule {}
const collection = (name, schema) => ({ name, schema, collection: name });
const Root = __decorate(
  [
    Module({
      imports: [
        MongooseModule.forRoot(process.env.MONGODB_URI, DRIVER),
        MongooseModule.forFeature([collection('campaigns', Campaign), collection('shares', Share)]),
      ],
      controllers: [Routes],
      providers: [
        CampaignService,
        { provide: APP_GUARD, useFactory: (connection) => new KeyGuard(connection), inject: [getConnectionToken()] },
      ],
    }),
  ],
  CampaignModule,
);

const app = await NestFactory.create(Root, new FastifyAdapter(), { logger: false, abortOnError: false });
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }));
await app.listen(Number(process.env.PORT), '127.0.0.1');
